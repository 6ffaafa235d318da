//! Members that are ids.

use domain::id::{
    ClosureId, ExportId, GroupVersionId, LinkId, MediaId, MemberId, PlanId, ReviewId,
    ReviewPolicyId, RuleGroupId, RuleId, SessionId, SiteId, TeamId, TokenId,
};
use poem_openapi::registry::MetaSchema;
use uuid::Uuid;

use super::Described;

impl Described for Uuid {
    fn expected() -> String {
        "a UUID".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new_with_format("string", "uuid")
    }
}

macro_rules! ids {
    ($($name:ident),+ $(,)?) => {$(
        impl Described for $name {
            fn expected() -> String {
                Uuid::expected()
            }

            fn schema() -> MetaSchema {
                <Uuid as Described>::schema()
            }
        }
    )+};
}

ids!(
    ClosureId,
    ExportId,
    GroupVersionId,
    LinkId,
    MediaId,
    MemberId,
    PlanId,
    ReviewId,
    ReviewPolicyId,
    RuleGroupId,
    RuleId,
    SessionId,
    SiteId,
    TeamId,
    TokenId
);
