//! A rule group's draft: read, replace, discard.

use std::sync::Arc;

use domain::{audit::Action, id::RuleGroupId, scope::Scope};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::rule_group;

use super::{
    find, lists, lock, record,
    rules::{RuleDocument, RuleDocuments, documents},
    schema, unknown,
    warnings::{self, RuleWarning, warnings},
};
use crate::{
    answer::Json,
    management::{
        Management, Tag,
        document::Operation,
        session::{Caller, Session},
    },
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
};

/// What is edited of a group, before it becomes a version.
#[derive(Serialize, Object)]
pub(in super::super) struct RuleGroupDraft {
    /// The rules, in the order of evaluation.
    rules: Vec<RuleDocument>,
    /// Counts the changes of what the draft shows: whoever changes it names the one that he saw.
    revision: i64,
    /// Whether it is something else than the live version.
    edited: bool,
    /// What its author should know.
    warnings: Vec<RuleWarning>,
}

impl RuleGroupDraft {
    fn new(draft: rule_group::Draft, warnings: Vec<RuleWarning>) -> Self {
        Self {
            rules: documents(draft.rules),
            revision: draft.revision,
            edited: draft.edited,
            warnings,
        }
    }

    /// The draft of a group that is there.
    async fn read(session: &mut Session, group: RuleGroupId) -> Result<Self, Refusal> {
        let draft = draft(session, group).await?;
        let warnings = warnings(session, &draft.rules).await?;
        Ok(Self::new(draft, warnings))
    }
}

/// What the draft is to be.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct DraftChange {
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
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let group = find(&mut session, rule_group_id.0).await?;
        Ok(Json(RuleGroupDraft::read(&mut session, group.id).await?))
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
        let group = rule_group_id.0;
        replace(&management, &caller, group, rules, Some(revision)).await
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
        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let group = lock(&mut session, rule_group_id.0).await?;
        if !group.edited {
            return Ok(Json(RuleGroupDraft::read(&mut session, group.id).await?));
        }
        rule_group::edit(session.conn(), group.id, None).await?;
        let draft = RuleGroupDraft::read(&mut session, group.id).await?;
        let details = json!({ "discarded": { "revision": group.draft_revision } });
        record(
            session,
            Action::RuleGroupEdit,
            group.team,
            group.id,
            details,
        )
        .await?;
        Ok(Json(draft))
    }
}

/// Replaces a group's draft, if it still has this revision.
pub(super) async fn replace(
    management: &Management,
    caller: &Caller,
    group: RuleGroupId,
    rules: RuleDocuments,
    revision: Option<i64>,
) -> Result<Json<RuleGroupDraft>, Refusal> {
    // What is refused anyway need not be compiled.
    let mut session = management.read(caller, Scope::RulesWrite).await?;
    let found = find(&mut session, group).await?;
    require(revision, found.draft_revision)?;
    drop(session);
    let rules = management
        .workbench
        .rules(Some(found.team), rules.into_rules())
        .await?;
    let compiled = management.workbench.check(Some(found.team), rules).await?;

    let mut session = management.change(caller, Scope::RulesWrite).await?;
    let group = lock(&mut session, group).await?;
    require(revision, group.draft_revision)?;
    lists::require(&mut session, group.team, &compiled.rules).await?;
    let rules = Some(compiled.rules.as_slice());
    let revision = rule_group::edit(session.conn(), group.id, rules).await?;
    let warnings = warnings(&mut session, &compiled.rules).await?;
    let details = json!({ "edited": { "revision": revision, "rules": compiled.rules.len() } });
    record(
        session,
        Action::RuleGroupEdit,
        group.team,
        group.id,
        details,
    )
    .await?;
    let draft = rule_group::Draft {
        rules: compiled.rules,
        revision,
        edited: true,
    };
    Ok(Json(RuleGroupDraft::new(draft, warnings)))
}

/// Refuses whoever saw another revision.
pub(super) fn require(seen: Option<i64>, revision: i64) -> Result<(), Refusal> {
    match seen {
        Some(seen) if seen != revision => Err(Refusal::draft_changed(revision)),
        Some(_) | None => Ok(()),
    }
}

/// The draft of a group that is there.
pub(super) async fn draft(
    session: &mut Session,
    group: RuleGroupId,
) -> Result<rule_group::Draft, Refusal> {
    let draft = rule_group::draft(session.conn(), group).await?;
    draft.ok_or_else(unknown)
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
