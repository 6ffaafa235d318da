//! Versions of rule groups in requests and responses.

use api_common::field::{Field, Time, given};
use domain::{
    id::{ActorId, GroupVersionId},
    reason::Reason,
};
use management::rule_groups::versions::NewVersion;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::rule_group::{ListedVersion, Publication, Version};
use uuid::Uuid;

use crate::rule_groups::rules::{RuleDocument, documents};

/// A version of a rule group. It never changes.
#[derive(Serialize, Object)]
pub(crate) struct RuleGroupVersion {
    /// The ID of the version.
    id: Uuid,
    /// The number of the version. A group's versions are numbered from 1.
    number: i32,
    /// The author's note. It may be empty.
    note: String,
    /// How many rules it has.
    rule_count: i32,
    /// The token that created it. `null` if it was created from the command line.
    #[oai(nullable)]
    created_by: Option<Uuid>,
    /// When it was created.
    created_at: Field<Time>,
}

impl From<ListedVersion> for RuleGroupVersion {
    fn from(version: ListedVersion) -> Self {
        Self {
            id: version.id.as_uuid(),
            number: version.number,
            note: version.note,
            rule_count: version.rules,
            created_by: version.created_by.map(ActorId::as_uuid),
            created_at: version.created_at.into(),
        }
    }
}

/// A version with its rules.
#[derive(Serialize, Object)]
pub(crate) struct RuleGroupVersionWithRules {
    /// The version.
    #[serde(flatten)]
    #[oai(flatten)]
    version: RuleGroupVersion,
    /// The version's rules, in the order of evaluation.
    rules: Vec<RuleDocument>,
}

impl From<Version> for RuleGroupVersionWithRules {
    fn from(version: Version) -> Self {
        Self {
            version: version.listed.into(),
            rules: documents(version.rules),
        }
    }
}

/// A version to create from the draft.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRuleGroupVersion {
    /// The revision of the draft that you read. If it is outdated, you get 409 (`draft_changed`).
    revision: i64,
    /// A note about the version.
    #[oai(nullable)]
    note: Option<Field<Reason>>,
    /// Whether the version is live at once. The default is `true`. With `false`, you can make it live later, or have it judge
    /// in the shadow.
    #[serde(default, deserialize_with = "given")]
    live: Option<bool>,
}

impl From<NewRuleGroupVersion> for NewVersion {
    fn from(new: NewRuleGroupVersion) -> Self {
        Self {
            revision: new.revision,
            note: new.note.map(|note| note.0),
            live: new.live.unwrap_or(true),
        }
    }
}

/// The version to make live.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct LiveVersionChange {
    /// A version of the group.
    pub(super) version_id: Field<GroupVersionId>,
}

/// An entry in the history of live versions.
#[derive(Serialize, Object)]
pub(crate) struct RuleGroupPublication {
    /// The ID of the entry.
    id: Uuid,
    /// The version that became live.
    version_id: Uuid,
    /// The number of the version.
    version_number: i32,
    /// The token that published it. `null` if it was published from the command line.
    #[oai(nullable)]
    published_by: Option<Uuid>,
    /// When it began to judge new submissions.
    published_at: Field<Time>,
}

impl From<Publication> for RuleGroupPublication {
    fn from(publication: Publication) -> Self {
        Self {
            id: publication.id,
            version_id: publication.version.as_uuid(),
            version_number: publication.number,
            published_by: publication.published_by.map(ActorId::as_uuid),
            published_at: publication.published_at.into(),
        }
    }
}
