//! Rule groups: list, create, read, rename, delete. What else is done with them stands beside this file, one thing a file.

mod attachments;
mod backtests;
mod diff;
mod draft;
mod file;
mod rules;
mod schema;
mod shadow;
mod trial;
mod versions;
mod warnings;

use std::sync::Arc;

use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    name::Name,
    reason::Reason,
    scope::Scope,
};
use management::{Management, rule_groups};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::rule_group::Group;
use uuid::Uuid;

use self::{rules::RuleDocuments, warnings::RuleWarning};
use super::{
    PREFIX, Tag,
    caller::Caller,
    document::{Operation, example},
    list::{After, Limit, List, Part},
};
use crate::{
    answer::{Created, Json, NoContent},
    member::{Member, Time, given},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// The operations, noun by noun.
pub(super) type Nouns = (
    RuleGroups,
    draft::Drafts,
    versions::Versions,
    diff::Diffs,
    shadow::Shadows,
    trial::Trials,
    backtests::Backtests,
    file::Files,
    attachments::Attachments,
);

pub(super) fn nouns() -> Nouns {
    (
        RuleGroups,
        draft::Drafts,
        versions::Versions,
        diff::Diffs,
        shadow::Shadows,
        trial::Trials,
        backtests::Backtests,
        file::Files,
        attachments::Attachments,
    )
}

/// Puts into the document what neither signatures nor the table of operations say.
pub(super) fn document(document: &mut Value) {
    schema::declare(document);
    file::declare(document);
}

/// A named set of rules of a team.
#[derive(Serialize, Object)]
pub(super) struct RuleGroup {
    /// The group.
    id: Uuid,
    /// Its team.
    team_id: Uuid,
    /// What it is called; unique in its team.
    name: String,
    /// The version that judges what is submitted.
    live_version_id: Uuid,
    /// Its number; a group's versions count from 1.
    live_version_number: i32,
    /// The version that judges beside it without effect.
    #[oai(nullable)]
    shadow_version_id: Option<Uuid>,
    /// Its number.
    #[oai(nullable)]
    shadow_version_number: Option<i32>,
    /// Whether the draft is something else than the live version.
    draft_edited: bool,
    /// Counts the changes of what the draft shows.
    draft_revision: i64,
    /// When it was created.
    created_at: Member<Time>,
}

impl From<Group> for RuleGroup {
    fn from(group: Group) -> Self {
        Self {
            id: group.id.as_uuid(),
            team_id: group.team.as_uuid(),
            name: group.name,
            live_version_id: group.live.as_uuid(),
            live_version_number: group.live_number,
            shadow_version_id: group.shadow.map(GroupVersionId::as_uuid),
            shadow_version_number: group.shadow_number,
            draft_edited: group.edited,
            draft_revision: group.draft_revision,
            created_at: group.created_at.into(),
        }
    }
}

/// A new rule group.
#[derive(Serialize, Object)]
pub(super) struct CreatedRuleGroup {
    /// What is known of it from now on.
    #[serde(flatten)]
    #[oai(flatten)]
    group: RuleGroup,
    /// What its author should know of its rules.
    warnings: Vec<RuleWarning>,
}

impl From<rule_groups::CreatedRuleGroup> for CreatedRuleGroup {
    fn from(created: rule_groups::CreatedRuleGroup) -> Self {
        let warnings = created.warnings.into_iter();
        Self {
            group: created.group.into(),
            warnings: warnings.map(RuleWarning::from).collect(),
        }
    }
}

/// Where it is found.
impl From<rule_groups::CreatedRuleGroup> for Created<CreatedRuleGroup> {
    fn from(created: rule_groups::CreatedRuleGroup) -> Self {
        Self {
            location: format!("{PREFIX}/rule-groups/{}", created.group.id),
            value: created.into(),
        }
    }
}

/// A rule group to be created.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct NewRuleGroup {
    /// What it is to be called; no other group of the team may be called so.
    name: Member<Name>,
    /// Its team. Without, it is the caller's own; an operator names one.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Member<TeamId>>,
    /// The rules of its first version, which is live at once; none if nothing is said.
    #[serde(default)]
    #[oai(default)]
    rules: RuleDocuments,
    /// A word about the first version.
    #[oai(nullable)]
    note: Option<Member<Reason>>,
}

impl From<NewRuleGroup> for rule_groups::NewRuleGroup {
    fn from(new: NewRuleGroup) -> Self {
        Self {
            name: new.name.0,
            team: new.team_id.map(|team| team.0),
            rules: new.rules.0,
            note: new.note.map(|note| note.0),
        }
    }
}

/// What is to be otherwise of a rule group.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleGroupChange {
    /// What it is to be called.
    #[serde(default, deserialize_with = "given")]
    name: Option<Member<Name>>,
}

pub(crate) struct RuleGroups;

#[OpenApi(tag = "Tag::RuleGroups")]
impl RuleGroups {
    /// List rule groups
    ///
    /// The oldest first. A team's token sees those of its team.
    #[oai(path = "/rule-groups", method = "get", operation_id = "listRuleGroups")]
    async fn list_rule_groups(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<RuleGroup>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let groups = rule_groups::list(&management, &caller, part.page()).await?;
        Ok(Json(part.list(groups, |group| group.id.as_uuid())))
    }

    /// Create a rule group
    ///
    /// Its first version has these rules and is live. It judges what names it by its id, and, once it is attached to a site,
    /// what is submitted there.
    #[oai(
        path = "/rule-groups",
        method = "post",
        operation_id = "createRuleGroup"
    )]
    async fn create_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        request: JsonBody<NewRuleGroup>,
    ) -> Result<Created<CreatedRuleGroup>, Refusal> {
        let new = request.value.into();
        let created = rule_groups::create(&management, &caller, new).await?;
        Ok(created.into())
    }

    /// Read a rule group
    #[oai(
        path = "/rule-groups/:rule_group_id",
        method = "get",
        operation_id = "getRuleGroup"
    )]
    async fn get_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let group = rule_groups::get(&management, &caller, rule_group_id.0).await?;
        Ok(Json(group.into()))
    }

    /// Rename a rule group
    #[oai(
        path = "/rule-groups/:rule_group_id",
        method = "patch",
        operation_id = "updateRuleGroup"
    )]
    async fn update_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<RuleGroupChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let name = request.value.name.map(|name| name.0);
        let group = rule_groups::rename(&management, &caller, rule_group_id.0, name).await?;
        Ok(Json(group.into()))
    }

    /// Delete a rule group
    ///
    /// Nothing can name it any more, and its name is free. Verdicts go on naming its versions. One that judges for a site,
    /// attached or as its default, is not deleted.
    #[oai(
        path = "/rule-groups/:rule_group_id",
        method = "delete",
        operation_id = "deleteRuleGroup"
    )]
    async fn delete_rule_group(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<NoContent, Refusal> {
        rule_groups::delete(&management, &caller, rule_group_id.0).await?;
        Ok(NoContent)
    }
}

fn group_example() -> Value {
    json!({
        "id": example::RULE_GROUP,
        "team_id": example::TEAM,
        "name": "House rules",
        "live_version_id": example::VERSION,
        "live_version_number": 3,
        "shadow_version_id": null,
        "shadow_version_number": null,
        "draft_edited": true,
        "draft_revision": 7,
        "created_at": example::CREATED_AT,
    })
}

fn created_example() -> Value {
    let mut created = group_example();
    created["warnings"] = json!([warnings::example()]);
    created
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let group = group_example();
    let own = vec![
        Operation {
            answer: Some(example::list(&group)),
            ..Operation::new("listRuleGroups", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::NameTaken, Code::LimitReached],
            request: Some(json!({
                "name": "Comment rules",
                "team_id": example::TEAM,
                "rules": schema::examples(),
                "note": "What we had in the old system.",
            })),
            answer: Some(created_example()),
            ..Operation::new("createRuleGroup", Scope::RulesWrite)
        },
        Operation {
            answer: Some(group.clone()),
            ..Operation::new("getRuleGroup", Scope::RulesRead)
        },
        Operation {
            problems: &[Code::NameTaken],
            request: Some(json!({ "name": "House rules" })),
            answer: Some(group),
            ..Operation::new("updateRuleGroup", Scope::RulesWrite)
        },
        Operation {
            problems: &[Code::RuleGroupInUse],
            ..Operation::new("deleteRuleGroup", Scope::RulesWrite)
        },
    ];
    [
        own,
        draft::described(),
        versions::described(),
        diff::described(),
        shadow::described(),
        trial::described(),
        backtests::described(),
        file::described(),
        attachments::described(),
    ]
    .concat()
}
