//! Shadows: have a version judge beside the live one without effect, and see what it said.

use api_common::{Code, Field, Json, JsonBody, Path, Query, Refusal, Schema, Time};
use domain::{
    id::{GroupVersionId, RuleGroupId},
    media::Status,
    scope::Scope,
};
use management::rule_groups::shadow;
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::rule_group::shadow::Difference;
use uuid::Uuid;

use super::{RuleGroup, group_example};
use crate::{After, Caller, Limit, List, Operation, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Shadows;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Shadows {
    /// Have a version judge in the shadow
    ///
    /// From now on, it judges everything that the live version judges, without effect. All other groups stay the same. A group
    /// has one shadow at most: an earlier one ends, and what it said is kept.
    #[oai(
        path = "/rule-groups/:rule_group_id/shadow-version",
        method = "put",
        operation_id = "setShadowVersion"
    )]
    async fn set_shadow_version(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<ShadowVersionChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let (group, wanted) = (rule_group_id.0, request.value.version_id.0);
        let group = shadow::set(&caller, group, wanted).await?;
        Ok(Json(group.into()))
    }

    /// End the shadow
    #[oai(
        path = "/rule-groups/:rule_group_id/shadow-version",
        method = "delete",
        operation_id = "endShadowVersion"
    )]
    async fn end_shadow_version(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let group = shadow::end(&caller, rule_group_id.0).await?;
        Ok(Json(group.into()))
    }

    /// Read what a version said in the shadow
    ///
    /// Covers everything that the version ever said in the shadow. Items count once their verdict is stored.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id/shadow-report",
        method = "get",
        operation_id = "getShadowReport"
    )]
    async fn get_shadow_report(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
    ) -> Result<Json<ShadowReport>, Refusal> {
        let (group, version) = (rule_group_id.0, version_id.0);
        let report = shadow::report(&caller, group, version).await?;
        Ok(Json(report.into()))
    }

    /// List the items about which a version differed in the shadow
    ///
    /// Returns the newest items first. They are kept for 30 days.
    #[oai(
        path = "/rule-groups/:rule_group_id/versions/:version_id/shadow-differences",
        method = "get",
        operation_id = "listShadowDifferences"
    )]
    async fn list_shadow_differences(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The version.
        version_id: Path<GroupVersionId>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<ShadowDifference>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let (group, version) = (rule_group_id.0, version_id.0);
        let differences = shadow::differences(&caller, group, version, part.page()).await?;
        Ok(Json(part.list(differences, |item| item.media.as_uuid())))
    }
}

/// The version that will judge in the shadow.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShadowVersionChange {
    /// A version of the group that is not live.
    version_id: Field<GroupVersionId>,
}

/// What a version said in the shadow of the live one.
#[derive(Serialize, Schema)]
pub(crate) struct ShadowReport {
    /// The version.
    version_id: Uuid,
    /// The number of items that it judged.
    judged: i64,
    /// Of these, the number of items that would have got another status.
    differing: i64,
    /// Of these, the number of items without a score that a rule of the version asks for. No provider is asked on behalf of
    /// a shadow.
    unscored: i64,
    /// How many items got which status, and which one they would have got.
    counts: Vec<ShadowCount>,
}

/// The number of items with the same pair of statuses.
#[derive(Serialize, Schema)]
struct ShadowCount {
    /// The status that they got.
    live_status: Field<Status>,
    /// The status that they would have got.
    shadow_status: Field<Status>,
    /// The number of items.
    items: i64,
}

impl From<shadow::ShadowReport> for ShadowReport {
    fn from(report: shadow::ShadowReport) -> Self {
        let counts = report.counts.into_iter();
        Self {
            version_id: report.version.as_uuid(),
            judged: report.judged,
            differing: report.differing,
            unscored: report.unscored,
            counts: counts.map(ShadowCount::from).collect(),
        }
    }
}

impl From<shadow::ShadowCount> for ShadowCount {
    fn from(count: shadow::ShadowCount) -> Self {
        Self {
            live_status: Field(count.live),
            shadow_status: Field(count.shadow),
            items: count.items,
        }
    }
}

/// An item about which a version in the shadow differed.
#[derive(Serialize, Schema)]
pub(crate) struct ShadowDifference {
    /// The media item.
    media_id: Uuid,
    /// The status that it got.
    live_status: Field<Status>,
    /// The status that it would have got.
    shadow_status: Field<Status>,
    /// When it was judged.
    judged_at: Field<Time>,
}

impl From<Difference> for ShadowDifference {
    fn from(difference: Difference) -> Self {
        Self {
            media_id: difference.media.as_uuid(),
            live_status: Field(difference.live),
            shadow_status: Field(difference.shadow),
            judged_at: difference.judged_at.into(),
        }
    }
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let mut shadowed = group_example();
    shadowed["shadow_version_id"] = example_values::OTHER_VERSION.into();
    shadowed["shadow_version_number"] = 4.into();
    let difference = json!({
        "media_id": example_values::MEDIA,
        "live_status": "approved",
        "shadow_status": "pending_review",
        "judged_at": example_values::CREATED_AT,
    });
    vec![
        Operation::new("setShadowVersion", Scope::RulesWrite)
            .problems(&[Code::VersionIsLive])
            .request(json!({ "version_id": example_values::OTHER_VERSION }))
            .answer(shadowed),
        Operation::new("endShadowVersion", Scope::RulesWrite).answer(group_example()),
        Operation::new("getShadowReport", Scope::RulesRead).answer(json!({
            "version_id": example_values::OTHER_VERSION,
            "judged": 1_000,
            "differing": 12,
            "unscored": 0,
            "counts": [
                { "live_status": "approved", "shadow_status": "approved", "items": 988 },
                { "live_status": "approved", "shadow_status": "pending_review", "items": 12 },
            ],
        })),
        Operation::new("listShadowDifferences", Scope::RulesRead)
            .answer(example_values::list(&difference)),
    ]
}
