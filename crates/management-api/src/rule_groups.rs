//! Rule groups: list, create, read, rename, delete. Everything else about them is in a module of its own.

mod attachments;
mod backtests;
mod diff;
mod draft;
mod import_export;
mod rule_schema;
mod rules;
mod shadow;
mod trial;
mod versions;

use api_common::{
    Code, Created, Field, Json, JsonBody, NoContent, Path, Query, Refusal, Schema, Time, given,
};
use domain::{
    id::{GroupVersionId, RuleGroupId, TeamId},
    name::Name,
    reason::Reason,
    scope::Scope,
};
use management::rule_groups::{self, Warning};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::rule_group::Group;
use uuid::Uuid;

use self::rules::RuleDocuments;
use super::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

/// The operations, noun by noun.
pub(super) type Nouns = (
    RuleGroups,
    draft::Drafts,
    versions::Versions,
    diff::Diffs,
    shadow::Shadows,
    trial::Trials,
    backtests::Backtests,
    import_export::Files,
    attachments::Attachments,
);

/// Adds the schemas of rules and of rule files to the document.
pub(super) fn document(document: &mut Value) {
    rule_schema::declare(document);
    import_export::declare(document);
}

#[derive(Default)]
pub(crate) struct RuleGroups;

#[OpenApi(tag = "Tag::RuleGroups")]
impl RuleGroups {
    /// List rule groups
    ///
    /// Returns the oldest groups first. A team's token sees only the groups of its team.
    #[oai(path = "/rule-groups", method = "get", operation_id = "listRuleGroups")]
    async fn list_rule_groups(
        &self,
        caller: Caller,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<RuleGroup>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let groups = rule_groups::list(&caller, part.page()).await?;
        Ok(Json(part.list(groups, |group| group.id.as_uuid())))
    }

    /// Create a rule group
    ///
    /// The first version has these rules and is live at once. The group judges submissions that name it by its ID. Once you
    /// attach it to a site, it also judges what is submitted there.
    #[oai(
        path = "/rule-groups",
        method = "post",
        operation_id = "createRuleGroup"
    )]
    async fn create_rule_group(
        &self,
        caller: Caller,
        request: JsonBody<NewRuleGroup>,
    ) -> Result<Created<CreatedRuleGroup>, Refusal> {
        let new = request.value.into();
        let created = rule_groups::create(&caller, new).await?;
        Ok(CreatedRuleGroup::answer(created))
    }

    /// Read a rule group
    #[oai(
        path = "/rule-groups/:rule_group_id",
        method = "get",
        operation_id = "getRuleGroup"
    )]
    async fn get_rule_group(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let group = rule_groups::get(&caller, rule_group_id.0).await?;
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
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
        request: JsonBody<RuleGroupChange>,
    ) -> Result<Json<RuleGroup>, Refusal> {
        let name = request.value.name.map(|name| name.0);
        let group = rule_groups::rename(&caller, rule_group_id.0, name).await?;
        Ok(Json(group.into()))
    }

    /// Delete a rule group
    ///
    /// After that, nothing can name the group, and its name is free. Verdicts still name its versions. You cannot delete a
    /// group that judges for a site, either attached or as the default.
    #[oai(
        path = "/rule-groups/:rule_group_id",
        method = "delete",
        operation_id = "deleteRuleGroup"
    )]
    async fn delete_rule_group(
        &self,
        caller: Caller,
        /// The rule group.
        rule_group_id: Path<RuleGroupId>,
    ) -> Result<NoContent, Refusal> {
        rule_groups::delete(&caller, rule_group_id.0).await?;
        Ok(NoContent)
    }
}

/// A named set of rules that belongs to a team.
#[derive(Serialize, Schema)]
pub(crate) struct RuleGroup {
    /// The ID of the rule group.
    id: Uuid,
    /// The team that owns it.
    team_id: Uuid,
    /// The group's name. Names are unique within a team.
    name: String,
    /// The version that judges new submissions.
    live_version_id: Uuid,
    /// The number of the live version. A group's versions are numbered from 1.
    live_version_number: i32,
    /// The version that judges in the shadow of the live version, without effect. `null` if there is none.
    #[schema(nullable)]
    shadow_version_id: Option<Uuid>,
    /// The number of the shadow version.
    #[schema(nullable)]
    shadow_version_number: Option<i32>,
    /// Whether the draft differs from the live version.
    draft_edited: bool,
    /// The revision of the draft. It grows with each change of what the draft shows.
    draft_revision: i64,
    /// When it was created.
    created_at: Field<Time>,
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
#[derive(Serialize, Schema)]
pub(crate) struct CreatedRuleGroup {
    /// The rule group.
    #[serde(flatten)]
    group: RuleGroup,
    /// What the author should know about the rules.
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

impl CreatedRuleGroup {
    /// The answer, with the path of the new group.
    fn answer(created: rule_groups::CreatedRuleGroup) -> Created<Self> {
        let location = format!("{PREFIX}/rule-groups/{}", created.group.id);
        Created::at(location, created)
    }
}

/// A rule group to create.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRuleGroup {
    /// The group's name. No other group of the team may have the same name.
    name: Field<Name>,
    /// The team that will own it. If omitted, it is the team of the token. Operators must name a team.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Field<TeamId>>,
    /// The rules of the first version, which is live at once. If omitted, the version has no rules.
    #[serde(default)]
    #[schema(empty_by_default)]
    rules: RuleDocuments,
    /// A note about the first version.
    #[schema(nullable)]
    note: Option<Field<Reason>>,
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

/// Fields of a rule group to change. Omitted fields keep their value.
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleGroupChange {
    /// The group's new name.
    #[serde(default, deserialize_with = "given")]
    name: Option<Field<Name>>,
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let group = group_example();
    let own = vec![
        Operation::new("listRuleGroups", Scope::RulesRead).answer(example_values::list(&group)),
        Operation::new("createRuleGroup", Scope::RulesWrite)
            .problems(&[Code::NameTaken, Code::LimitReached])
            .request(json!({
                "name": "Comment rules",
                "team_id": example_values::TEAM,
                "rules": rule_schema::examples(),
                "note": "What we had in the old system.",
            }))
            .answer(created_example()),
        Operation::new("getRuleGroup", Scope::RulesRead).answer(group.clone()),
        Operation::new("updateRuleGroup", Scope::RulesWrite)
            .problems(&[Code::NameTaken])
            .request(json!({ "name": "House rules" }))
            .answer(group),
        Operation::new("deleteRuleGroup", Scope::RulesWrite).problems(&[Code::RuleGroupInUse]),
    ];
    [
        own,
        draft::descriptions(),
        versions::descriptions(),
        diff::descriptions(),
        shadow::descriptions(),
        trial::descriptions(),
        backtests::descriptions(),
        import_export::descriptions(),
        attachments::descriptions(),
    ]
    .concat()
}

/// A rule group with a draft that was edited.
fn group_example() -> Value {
    json!({
        "id": example_values::RULE_GROUP,
        "team_id": example_values::TEAM,
        "name": "House rules",
        "live_version_id": example_values::VERSION,
        "live_version_number": 3,
        "shadow_version_id": null,
        "shadow_version_number": null,
        "draft_edited": true,
        "draft_revision": 7,
        "created_at": example_values::CREATED_AT,
    })
}

/// A rule group as it is answered when it was created: with warnings about its rules.
fn created_example() -> Value {
    let mut created = group_example();
    created["warnings"] = json!([warning_example()]);
    created
}

/// Something that the author of rules should know, although the rules are accepted.
#[derive(Serialize, Schema)]
pub(crate) struct RuleWarning {
    /// The field that the warning is about, such as `rules[3].category`.
    field: String,
    /// What you should know about it.
    message: String,
}

impl From<Warning> for RuleWarning {
    fn from(warning: Warning) -> Self {
        Self {
            field: warning.field,
            message: warning.message,
        }
    }
}

fn warning_example() -> Value {
    json!({
        "field": "rules[3].category",
        "message": "No configured provider can score `violence`, so the rule never matches.",
    })
}
