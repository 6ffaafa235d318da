//! Rule groups: list, create, read, rename, delete. What else is done with them stands beside this file, one thing a file.

mod attachments;
mod backtests;
mod diff;
mod draft;
mod file;
mod lists;
mod room;
mod rules;
mod schema;
mod shadow;
mod test;
mod versions;
mod warnings;

use std::sync::Arc;

use domain::{
    audit::Action,
    id::{RuleGroupId, TeamId},
    name::Name,
    reason::Reason,
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::rule_group::{self, Authorship, Group};
use uuid::Uuid;

use self::{
    rules::RuleDocuments,
    warnings::{RuleWarning, warnings},
};
use super::{
    Management, PREFIX, Tag,
    document::{Operation, example},
    list::{After, Limit, List, Part},
    session::{Caller, Change, Session, difference},
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
    test::Tests,
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
        test::Tests,
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
            shadow_version_id: group.shadow.map(domain::id::GroupVersionId::as_uuid),
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
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        let part = Part::new(&limit, &cursor);
        let of = session.only_team();
        let groups = rule_group::list(session.conn(), of, part.page()).await?;
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
        let new = request.value;
        let name = new.name.0;
        let note = new.note.as_ref().map_or("", |note| note.as_str());
        create(&management, &caller, &name, new.team_id, new.rules, note).await
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
        let mut session = management.read(&caller, Scope::RulesRead).await?;
        Ok(Json(find(&mut session, rule_group_id.0).await?.into()))
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
        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let mut group = lock(&mut session, rule_group_id.0).await?;
        let before = RuleGroup::from(group.clone());
        if let Some(name) = request.value.name {
            rule_group::rename(session.conn(), group.id, name.as_str()).await?;
            group.name = name.0.into();
        }
        let team = group.team;
        let after = RuleGroup::from(group);
        if let Some(details) = difference(&before, &after) {
            let action = Action::RuleGroupUpdate;
            record(session, action, team, rule_group_id.0, details).await?;
        }
        Ok(Json(after))
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
        let mut session = management.change(&caller, Scope::RulesWrite).await?;
        let of = session.only_team();
        let found = rule_group::lock_to_disable(session.conn(), of, rule_group_id.0).await?;
        let (group, sites) = found.ok_or_else(unknown)?;
        if !sites.is_empty() {
            let sites: Vec<String> = sites.iter().map(ToString::to_string).collect();
            let detail = format!("The group judges for sites: {}.", sites.join(", "));
            return Err(Refusal::new(Code::RuleGroupInUse, detail));
        }
        rule_group::disable(session.conn(), group.id).await?;
        let details = json!({ "deleted": { "name": group.name } });
        record(
            session,
            Action::RuleGroupDelete,
            group.team,
            group.id,
            details,
        )
        .await?;
        Ok(NoContent)
    }
}

/// Creates a group whose first version is live.
async fn create(
    management: &Management,
    caller: &Caller,
    name: &Name,
    team: Option<Member<TeamId>>,
    rules: RuleDocuments,
    note: &str,
) -> Result<Created<CreatedRuleGroup>, Refusal> {
    // Who may not do this need not have rules compiled.
    let named = team.as_deref().copied();
    let mut session = management.read(caller, Scope::RulesWrite).await?;
    let team = session.named_team(named).await?;
    let team = team.ok_or_else(|| Refusal::invalid_field("team_id", "is missing"))?;
    drop(session);
    let rules = management
        .workbench
        .rules(Some(team), rules.into_rules())
        .await?;
    let compiled = management.workbench.check(Some(team), rules).await?;

    let mut session = management.change(caller, Scope::RulesWrite).await?;
    session.require_team(team)?;
    lists::require(&mut session, team, &compiled.rules).await?;
    room::require(management, &mut session, team).await?;
    let authorship = Authorship {
        by: session.actor(),
        note,
    };
    let version = compiled.version();
    let conn = session.conn();
    let id = rule_group::create_as(conn, team, name.as_str(), version, authorship).await?;
    let group = RuleGroup::from(find(&mut session, id).await?);
    let details = json!({ "created": group, "rules": compiled.rules.len() });
    let warnings = warnings(&mut session, &compiled.rules).await?;
    record(session, Action::RuleGroupCreate, team, id, details).await?;
    Ok(Created {
        location: format!("{PREFIX}/rule-groups/{id}"),
        value: CreatedRuleGroup { group, warnings },
    })
}

/// A group that the caller may know of.
async fn find(session: &mut Session, group: RuleGroupId) -> Result<Group, Refusal> {
    let of = session.only_team();
    let group = rule_group::find(session.conn(), of, group).await?;
    group.ok_or_else(unknown)
}

/// A group that the caller may know of, and that nobody else changes meanwhile.
async fn lock(session: &mut Session, group: RuleGroupId) -> Result<Group, Refusal> {
    let of = session.only_team();
    let group = rule_group::lock(session.conn(), of, group).await?;
    group.ok_or_else(unknown)
}

/// Records what was done to a group, and commits.
async fn record(
    session: Session,
    action: Action,
    team: TeamId,
    group: RuleGroupId,
    details: Value,
) -> Result<(), Refusal> {
    let change = Change {
        action,
        team: Some(team),
        target: group.as_uuid(),
        details,
    };
    Ok(session.commit(change).await?)
}

fn unknown() -> Refusal {
    Refusal::not_found("rule group")
}

fn unknown_version(field: &str) -> Refusal {
    Refusal::invalid_field(field, "is no version of this group")
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
        test::described(),
        backtests::described(),
        file::described(),
        attachments::described(),
    ]
    .concat()
}
