//! Versions: immutable once they are made. One of them is live.

mod add;
mod publication;
mod read;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    id::{ActorId, GroupVersionId},
    rules::Rule,
    score::Category,
};
use serde::Serialize;

pub use self::{
    add::add_version,
    publication::{Publication, publications, set_live},
    read::{GroupVersion, find_version, version, versions},
};
pub(crate) use self::{add::insert, publication::record_publication};

/// A new version's content: rules that compile, which the caller has checked.
#[derive(Clone, Copy, Debug)]
pub struct NewVersion<'a> {
    /// The rules.
    pub rules: &'a [Rule],
    /// The categories whose scores the enabled rules ask for. If there are any, submissions are
    /// analysed first.
    pub categories: &'a [Category],
}

/// Who makes a version, and a note about it.
#[derive(Clone, Copy, Debug)]
pub struct Authorship<'a> {
    /// Who makes it.
    pub by: Actor,
    /// A note about it.
    pub note: &'a str,
}

impl Authorship<'_> {
    /// From the command line, without a note.
    pub const COMMAND_LINE: Self = Self {
        by: Actor::CommandLine,
        note: "",
    };
}

/// A version without its rules. The audit log shows it as the management interface does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedVersion {
    /// The version.
    pub id: GroupVersionId,
    /// Its number; a group's versions count from 1.
    pub number: i32,
    /// Its author's note.
    pub note: String,
    /// How many rules it has.
    #[serde(rename = "rule_count")]
    pub rules: i32,
    /// Who made it; none from the command line.
    pub created_by: Option<ActorId>,
    /// When it was made.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

/// A version with its rules.
#[derive(Clone, Debug)]
pub struct Version {
    /// What lists show of it.
    pub listed: ListedVersion,
    /// Its rules, in the order of evaluation.
    pub rules: Vec<Rule>,
}
