//! What differs between two versions of a rule group, or between a version and the draft.

use api_common::{Json, Path, Query, Refusal, Schema};
use domain::{
    id::{GroupVersionId, RuleGroupId, RuleId},
    rule_diff::Difference,
    scope::Scope,
};
use management::rule_groups::diff;
use poem_openapi::OpenApi;
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::{
    rule_schema,
    rules::{RuleDocument, documents},
};
use crate::{Caller, Operation, Tag, example_values};

/// What differs. Rules are identified by their IDs.
#[derive(Serialize, Schema)]
pub(crate) struct RuleGroupDifference {
    /// Rules that only the later one has.
    added: Vec<RuleDocument>,
    /// Rules that only the earlier one has.
    removed: Vec<RuleDocument>,
    /// Rules that both have, but that differ.
    changed: Vec<ChangedRule>,
    /// The IDs of rules that moved among the rules that both have. It is the smallest set that explains the new order.
    moved: Vec<Uuid>,
}

/// A rule before and after.
#[derive(Serialize, Schema)]
struct ChangedRule {
    /// The rule before.
    from: RuleDocument,
    /// The rule after.
    to: RuleDocument,
}

impl From<Difference> for RuleGroupDifference {
    fn from(difference: Difference) -> Self {
        let changed = difference.changed.into_iter();
        let moved = difference.moved.into_iter();
        Self {
            added: documents(difference.added),
            removed: documents(difference.removed),
            changed: changed
                .map(|(from, to)| ChangedRule {
                    from: from.into(),
                    to: to.into(),
                })
                .collect(),
            moved: moved.map(RuleId::as_uuid).collect(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Diffs;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Diffs {
    /// Compare versions
    ///
    /// Without parameters, shows what the draft would change in the live version.
    #[oai(
        path = "/rule-groups/:rule_group_id/diff",
        method = "get",
        operation_id = "compareVersions"
    )]
    async fn compare_versions(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        /// The earlier version. If omitted, it is the live version.
        from_version_id: Query<GroupVersionId>,
        /// The later version. If omitted, it is the draft.
        to_version_id: Query<GroupVersionId>,
    ) -> Result<Json<RuleGroupDifference>, Refusal> {
        let (group, from, to) = (rule_group_id.0, from_version_id.0, to_version_id.0);
        let difference = diff::between(&caller, group, from, to).await?;
        Ok(Json(difference.into()))
    }
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    let rules = rule_schema::examples();
    let mut to = rules[1].clone();
    to["pattern"] = r"review-\d{4,6}".into();
    vec![
        Operation::new("compareVersions", Scope::RulesRead).answer(json!({
            "added": [rules[0]],
            "removed": [],
            "changed": [{ "from": rules[1], "to": to }],
            "moved": [example_values::RULE],
        })),
    ]
}
