//! A rule group's draft: read, replace, discard.

use api_common::{Code, Json, JsonBody, Path, Refusal, Schema};
use domain::{id::RuleGroupId, scope::Scope};
use management::rule_groups::drafts::{self, CheckedDraft};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    RuleWarning, rule_schema,
    rules::{RuleDocument, RuleDocuments, documents},
};
use crate::{Caller, Operation, Tag};

/// The rules that you edit before they become a version.
#[derive(Serialize, Schema)]
pub(crate) struct RuleGroupDraft {
    /// The rules, in the order of evaluation.
    rules: Vec<RuleDocument>,
    /// The revision of the draft. It grows with each change of what the draft shows. Send the revision you read when you
    /// change the draft.
    revision: i64,
    /// Whether the draft differs from the live version.
    edited: bool,
    /// What the author should know about the rules.
    warnings: Vec<RuleWarning>,
}

impl From<CheckedDraft> for RuleGroupDraft {
    fn from(CheckedDraft { draft, warnings }: CheckedDraft) -> Self {
        Self {
            rules: documents(draft.rules),
            revision: draft.revision,
            edited: draft.edited,
            warnings: warnings.into_iter().map(RuleWarning::from).collect(),
        }
    }
}

/// The new content of a draft.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftChange {
    /// All rules of the draft, in the order of evaluation.
    rules: RuleDocuments,
    /// The revision that you read. If it is outdated, you get 409 (`draft_changed`).
    revision: i64,
}

#[derive(Default)]
pub(crate) struct Drafts;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Drafts {
    /// Read a draft
    ///
    /// If nothing was edited, the draft shows the live version.
    #[oai(
        path = "/rule-groups/:rule_group_id/draft",
        method = "get",
        operation_id = "getDraft"
    )]
    async fn get_draft(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroupDraft>, Refusal> {
        let draft = drafts::get(&caller, rule_group_id.0).await?;
        Ok(Json(draft.into()))
    }

    /// Replace a draft
    ///
    /// The draft judges nothing until you publish it. Rules keep their IDs; rules without an ID get one. If somebody else
    /// changed the draft after the `revision` you send, you get 409 and nothing changes.
    #[oai(
        path = "/rule-groups/:rule_group_id/draft",
        method = "put",
        operation_id = "replaceDraft"
    )]
    async fn replace_draft(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<DraftChange>,
    ) -> Result<Json<RuleGroupDraft>, Refusal> {
        let DraftChange { rules, revision } = request.value;
        let (group, rules) = (rule_group_id.0, rules.0);
        let draft = drafts::replace(&caller, group, rules, Some(revision)).await?;
        Ok(Json(draft.into()))
    }

    /// Discard a draft
    ///
    /// The draft then shows the live version again.
    #[oai(
        path = "/rule-groups/:rule_group_id/draft",
        method = "delete",
        operation_id = "discardDraft"
    )]
    async fn discard_draft(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroupDraft>, Refusal> {
        let draft = drafts::discard(&caller, rule_group_id.0, None).await?;
        Ok(Json(draft.into()))
    }
}

pub(super) fn example() -> Value {
    json!({
        "rules": rule_schema::examples(),
        "revision": 7,
        "edited": true,
        "warnings": [super::warning_example()],
    })
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    vec![
        Operation::new("getDraft", Scope::RulesRead).answer(example()),
        Operation::new("replaceDraft", Scope::RulesWrite)
            .problems(&[Code::DraftChanged])
            .request(json!({ "rules": rule_schema::examples(), "revision": 6 }))
            .answer(example()),
        Operation::new("discardDraft", Scope::RulesWrite).answer(example()),
    ]
}
