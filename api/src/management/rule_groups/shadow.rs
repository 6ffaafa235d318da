//! Shadows: let a version judge beside the live one without effect, and see what it said.

use std::sync::Arc;

use domain::{
    audit::Action,
    id::{GroupVersionId, RuleGroupId},
    media::Status,
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::rule_group::{
    self, Group,
    shadow::{self, Count, Difference},
};
use uuid::Uuid;

use super::{RuleGroup, find, group_example, lists, lock, record, unknown_version};
use crate::{
    answer::Json,
    management::{
        Management, Tag,
        document::{Operation, example},
        list::{After, Limit, List, Part},
        session::{Caller, Session},
    },
    member::{Member, Time},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// Which version is to judge in the shadow.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct ShadowVersionChange {
    /// One of the group's, which is not live.
    version_id: Member<GroupVersionId>,
}

/// What a version said in the shadow of the live one.
#[derive(Serialize, Object)]
pub(in super::super) struct ShadowReport {
    /// The version.
    version_id: Uuid,
    /// Items that it judged.
    judged: i64,
    /// Of these, those that would have gone elsewhere.
    differing: i64,
    /// Of these, those for which a rule of it asked for a score that was not there: nobody is asked on its account.
    unscored: i64,
    /// How many items went where, and where they would have gone.
    counts: Vec<ShadowCount>,
}

/// How many items a version in the shadow said the same about.
#[derive(Serialize, Object)]
struct ShadowCount {
    /// Where they went.
    live_status: Member<Status>,
    /// Where they would have gone.
    shadow_status: Member<Status>,
    /// How many they are.
    items: i64,
}

impl ShadowReport {
    fn new(version: GroupVersionId, counted: &[Count]) -> Self {
        let sum = |wanted: fn(&Count) -> bool| -> i64 {
            let wanted = counted.iter().filter(|count| wanted(count));
            wanted.map(|count| count.items).sum()
        };
        let mut counts: Vec<ShadowCount> = Vec::new();
        for count in counted {
            let same = counts.iter_mut().find(|known| {
                (known.live_status.0, known.shadow_status.0) == (count.live, count.shadow)
            });
            match same {
                Some(known) => known.items += count.items,
                None => counts.push(ShadowCount {
                    live_status: Member(count.live),
                    shadow_status: Member(count.shadow),
                    items: count.items,
                }),
            }
        }
        Self {
            version_id: version.as_uuid(),
            judged: sum(|_| true),
            differing: sum(|count| count.live != count.shadow),
            unscored: sum(|count| count.unscored),
            counts,
        }
    }
}

/// An item about which a version in the shadow differed.
#[derive(Serialize, Object)]
pub(in super::super) struct ShadowDifference {
    /// The item.
    media_id: Uuid,
    /// Where it went.
    live_status: Member<Status>,
    /// Where it would have gone.
    shadow_status: Member<Status>,
    /// When it was judged.
    judged_at: Member<Time>,
}

impl From<Difference> for ShadowDifference {
    fn from(difference: Difference) -> Self {
        Self {
            media_id: difference.media.as_uuid(),
            live_status: Member(difference.live),
            shadow_status: Member(difference.shadow),
            judged_at: difference.judged_at.into(),
        }
    }
}

pub(crate) struct Shadows;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Shadows {
    /// Let a version judge in the shadow
    ///
    /// It judges what the live version judges, from now on and without effect; all other groups are as they are. A
    /// group has one shadow at most: an earlier one ends, and what it said is kept.
    #[oai(
        path = "/rule-groups/:rule_group_id/shadow-version",
        method = "put",
        operation_id = "setShadowVersion"
    )]
    async fn set_shadow_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<ShadowVersionChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let wanted = request.value.version_id.0;
        let mut session = management.read(&caller, Scope::RulesWrite).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        let version = rule_group::version(session.conn(), group.id, wanted).await?;
        let version = version.ok_or_else(|| unknown_version("version_id"))?;
        drop(session);
        let compiled = management
            .workbench
            .check(Some(group.team), version.rules)
            .await?;

        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let group = lock(&mut session, group.id).await?;
        if group.live == wanted {
            return Err(Refusal::new(
                Code::VersionIsLive,
                "The version is live: in its own shadow it would say the same.",
            ));
        }
        lists::require_still(&mut session, group.team, &compiled.rules).await?;
        set(session, group, Some(wanted)).await
    }

    /// End the shadow
    #[oai(
        path = "/rule-groups/:rule_group_id/shadow-version",
        method = "delete",
        operation_id = "endShadowVersion"
    )]
    async fn end_shadow_version(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let group = lock(&mut session, rule_group_id.0).await?;
        set(session, group, None).await
    }

    /// Read what a version said in the shadow
    ///
    /// All that it ever said there. Items count once their verdict is stored.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id/shadow-report",
        method = "get",
        operation_id = "getShadowReport"
    )]
    async fn get_shadow_report(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
    ) -> Result<Json<ShadowReport>, Refusal> {
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let version = require(&mut session, rule_group_id.0, version_id.0).await?;
        let counts = shadow::counts(session.conn(), version).await?;
        Ok(Json(ShadowReport::new(version, &counts)))
    }

    /// List the items about which a version differed in the shadow
    ///
    /// The newest first; they are kept for 30 days.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id/shadow-differences",
        method = "get",
        operation_id = "listShadowDifferences"
    )]
    async fn list_shadow_differences(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<ShadowDifference>>, Refusal> {
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let version = require(&mut session, rule_group_id.0, version_id.0).await?;
        let part = Part::new(&limit, &cursor);
        let differences = shadow::differences(session.conn(), version, part.page()).await?;
        Ok(Json(part.list(differences, |item| item.media.as_uuid())))
    }
}

/// The version, if it is one of a group that the caller may know of.
async fn require(
    session: &mut Session,
    group: RuleGroupId,
    version: GroupVersionId,
) -> Result<GroupVersionId, Refusal> {
    let group = find(session, group).await?;
    let found = rule_group::version(session.conn(), group.id, version).await?;
    let found = found.ok_or_else(|| Refusal::not_found("version"))?;
    Ok(found.listed.id)
}

async fn set(
    mut session: Session,
    before: Group,
    version: Option<GroupVersionId>,
) -> Result<Json<RuleGroup>, Refusal> {
    if before.shadow == version {
        return Ok(Json(before.into()));
    }
    shadow::set(session.conn(), before.id, version).await?;
    let after = find(&mut session, before.id).await?;
    let details = json!({ "changed": { "shadow_version_id": {
        "from": before.shadow, "to": after.shadow
    } } });
    let (team, id) = (after.team, after.id);
    record(session, Action::RuleGroupShadow, team, id, details).await?;
    Ok(Json(after.into()))
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let mut shadowed = group_example();
    shadowed["shadow_version_id"] = example::OTHER_VERSION.into();
    shadowed["shadow_version_number"] = 4.into();
    let difference = json!({
        "media_id": example::MEDIA,
        "live_status": "approved",
        "shadow_status": "pending_review",
        "judged_at": example::CREATED_AT,
    });
    vec![
        Operation {
            problems: &[Code::VersionIsLive],
            request: Some(json!({ "version_id": example::OTHER_VERSION })),
            answer: Some(shadowed),
            ..Operation::new("setShadowVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(group_example()),
            ..Operation::new("endShadowVersion", Scope::RulesWrite)
        },
        Operation {
            answer: Some(json!({
                "version_id": example::OTHER_VERSION,
                "judged": 1_000,
                "differing": 12,
                "unscored": 0,
                "counts": [
                    { "live_status": "approved", "shadow_status": "approved", "items": 988 },
                    { "live_status": "approved", "shadow_status": "pending_review", "items": 12 },
                ],
            })),
            ..Operation::new("getShadowReport", Scope::RulesRead)
        },
        Operation {
            answer: Some(example::list(&difference)),
            ..Operation::new("listShadowDifferences", Scope::RulesRead)
        },
    ]
}
