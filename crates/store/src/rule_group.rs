//! Rule groups: what a team edits as a draft, publishes as immutable versions, and attaches to
//! sites.
//!
//! A change of a group locks it first ([`lock`]), so that versions are numbered one by one and
//! nobody overwrites the edits of somebody else. Groups are never deleted, because verdicts name
//! their versions: [`disable`] hides them. Versions that no verdict can name are removed when they
//! are old ([`retention`]).

mod attachment;
mod create;
mod disable;
mod draft;
mod imported;
mod read;
pub(crate) mod retention;
mod rule_kinds;
pub mod shadow;
mod sites;
mod stored_bytes;
mod version;

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, GroupVersionId, RuleGroupId, TeamId},
    rules::Rule,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use self::read::Row;
pub use self::{
    attachment::{attach, attached, detach},
    create::{create, create_as},
    disable::{disable, lock_to_disable},
    draft::{Draft, draft, edit},
    imported::{
        ImportedGroup, ImportedVersion, import_group, import_version, is_named, keep, owner,
    },
    read::{find, list, lock, team_of},
    rule_kinds::kinds,
    sites::{JudgedSite, judged_sites},
    stored_bytes::stored_of_late,
    version::{
        Authorship, GroupVersion, ListedVersion, NewVersion, Publication, Version, add_version,
        find_version, publications, set_live, version, versions,
    },
};
use crate::Error;

/// Two groups of a team that are not disabled cannot have one name.
const NAME_KEY: &str = "rule_groups_name_key";

/// A group. The audit log shows it as the management interface does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// The group.
    pub id: RuleGroupId,
    /// Its team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// Its name. Groups of a team that are not disabled have different names.
    pub name: String,
    /// The version that judges new submissions.
    #[serde(rename = "live_version_id")]
    pub live: GroupVersionId,
    /// Its number.
    #[serde(rename = "live_version_number")]
    pub live_number: i32,
    /// The version that judges beside it without effect.
    #[serde(rename = "shadow_version_id")]
    pub shadow: Option<GroupVersionId>,
    /// Its number.
    #[serde(rename = "shadow_version_number")]
    pub shadow_number: Option<i32>,
    /// Whether the draft differs from the live version.
    #[serde(rename = "draft_edited")]
    pub edited: bool,
    /// Counts the changes of what the draft shows.
    pub draft_revision: i64,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

/// Gives a group another name.
///
/// # Errors
/// [`Error::NameTaken`].
pub async fn rename(conn: &mut PgConnection, group: RuleGroupId, name: &str) -> Result<(), Error> {
    sqlx::query!(
        "update rule_groups set name = $2 where id = $1",
        group.as_uuid(),
        name,
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(NAME_KEY, Error::NameTaken))?;
    Ok(())
}

/// The hash lists that rules name, each once.
fn hash_lists(rules: &[Rule]) -> Vec<Uuid> {
    let named = rules.iter().flat_map(|rule| rule.kind.hash_lists());
    let named: BTreeSet<Uuid> = named.map(|list| list.as_uuid()).collect();
    named.into_iter().collect()
}

fn actor(id: Option<Uuid>) -> Option<ActorId> {
    id.map(ActorId::from)
}
