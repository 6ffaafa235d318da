//! A rule group's draft: read, replace, discard.

use std::sync::Arc;

use domain::{id::RuleGroupId, scope::Scope};
use management::{
    Management,
    rule_groups::drafts::{self, CheckedDraft},
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    rules::{RuleDocument, RuleDocuments, documents},
    schema,
    warnings::{self, RuleWarning},
};
use crate::{
    answer::Json,
    management::{Tag, caller::Caller, document::Operation},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
};

/// What is edited of a group, before it becomes a version.
#[derive(Serialize, Object)]
pub(crate) struct RuleGroupDraft {
    /// The rules, in the order of evaluation.
    rules: Vec<RuleDocument>,
    /// Counts the changes of what the draft shows: whoever changes it names the one that he saw.
    revision: i64,
    /// Whether it is something else than the live version.
    edited: bool,
    /// What its author should know.
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

/// What the draft is to be.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftChange {
    /// All of its rules, in the order of evaluation.
    rules: RuleDocuments,
    /// The revision of the draft that was edited.
    revision: i64,
}

pub(crate) struct Drafts;

#[OpenApi(tag = "Tag::RuleGroups")]
impl Drafts {
    /// Read a draft
    ///
    /// A group of which nothing is edited shows its live version.
    #[oai(
        path = "/rule-groups/:rule_group_id/draft",
        method = "get",
        operation_id = "getDraft"
    )]
    async fn get_draft(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroupDraft>, Refusal> {
        let draft = drafts::get(&management, &caller, rule_group_id.0).await?;
        Ok(Json(draft.into()))
    }

    /// Replace a draft
    ///
    /// Judges nothing before it is published. Rules keep their ids; those without one get it. If somebody else has changed the
    /// draft since the `revision`, nothing is changed.
    #[oai(
        path = "/rule-groups/:rule_group_id/draft",
        method = "put",
        operation_id = "replaceDraft"
    )]
    async fn replace_draft(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<DraftChange>,
    ) -> Result<Json<RuleGroupDraft>, Refusal> {
        let DraftChange { rules, revision } = request.value;
        let (group, rules) = (rule_group_id.0, rules.0);
        let draft = drafts::replace(&management, &caller, group, rules, Some(revision)).await?;
        Ok(Json(draft.into()))
    }

    /// Discard a draft
    ///
    /// It shows the live version again.
    #[oai(
        path = "/rule-groups/:rule_group_id/draft",
        method = "delete",
        operation_id = "discardDraft"
    )]
    async fn discard_draft(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroupDraft>, Refusal> {
        let draft = drafts::discard(&management, &caller, rule_group_id.0).await?;
        Ok(Json(draft.into()))
    }
}

pub(super) fn example() -> Value {
    json!({
        "rules": schema::examples(),
        "revision": 7,
        "edited": true,
        "warnings": [warnings::example()],
    })
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    vec![
        Operation {
            answer: Some(example()),
            ..Operation::new("getDraft", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::DraftChanged],
            request: Some(json!({ "rules": schema::examples(), "revision": 6 })),
            answer: Some(example()),
            ..Operation::new("replaceDraft", Scope::RulesWrite)
        },
        Operation {
            answer: Some(example()),
            ..Operation::new("discardDraft", Scope::RulesWrite)
        },
    ]
}
