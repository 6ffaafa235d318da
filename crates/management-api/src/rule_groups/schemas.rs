//! Rule groups in requests and responses.

use api_common::{
    field::{Field, Time, given},
    response::Created,
};
use domain::{
    id::{GroupVersionId, TeamId},
    name::Name,
    reason::Reason,
};
use management::rule_groups;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::rule_group::Group;
use uuid::Uuid;

use super::{rules::RuleDocuments, warnings::RuleWarning};
use crate::PREFIX;

/// A named set of rules that belongs to a team.
#[derive(Serialize, Object)]
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
    #[oai(nullable)]
    shadow_version_id: Option<Uuid>,
    /// The number of the shadow version.
    #[oai(nullable)]
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
#[derive(Serialize, Object)]
pub(crate) struct CreatedRuleGroup {
    /// The rule group.
    #[serde(flatten)]
    #[oai(flatten)]
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
    pub(super) fn answer(created: rule_groups::CreatedRuleGroup) -> Created<Self> {
        Created {
            location: format!("{PREFIX}/rule-groups/{}", created.group.id),
            value: created.into(),
        }
    }
}

/// A rule group to create.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRuleGroup {
    /// The group's name. No other group of the team may have the same name.
    name: Field<Name>,
    /// The team that will own it. If omitted, it is the team of the token. Operators must name a team.
    #[serde(default, deserialize_with = "given")]
    team_id: Option<Field<TeamId>>,
    /// The rules of the first version, which is live at once. If omitted, the version has no rules.
    #[serde(default)]
    #[oai(default)]
    rules: RuleDocuments,
    /// A note about the first version.
    #[oai(nullable)]
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
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleGroupChange {
    /// The group's new name.
    #[serde(default, deserialize_with = "given")]
    pub(super) name: Option<Field<Name>>,
}
