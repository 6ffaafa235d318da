//! Hash lists: those of teams and those that all teams share, their entries ([`entry`]), the files
//! that they are filled from ([`import`]), and what they matched ([`matches`], [`scan`]).
//!
//! A change of a list locks its row first ([`lock`]), so that its revisions are numbered in the
//! order in which they become visible. Everybody may find and read shared lists. Only operators may
//! change them; the caller checks this.

mod change;
mod create;
mod delete;
pub mod delta;
pub mod entry;
pub mod import;
pub mod matches;
mod read;
mod retention;
mod revision;
pub mod scan;
pub mod search;
mod usable;

use chrono::{DateTime, Utc};
use domain::{
    id::{ActorId, HashListId, TeamId},
    image_hash::ListKind,
};

pub(crate) use self::revision::{count, raise};
pub use self::{
    change::{HashListChange, change},
    create::{MAX_SHARED, NewHashList, create},
    delete::{delete, lock_to_delete},
    read::{find, list, lock, shared},
    retention::forget_old,
    usable::{hold_usable, usable},
};

/// The most entries of all lists of a team, and of all shared lists. Workers hold them in memory.
pub const MAX_ENTRIES: i64 = 2_000_000;

/// Two lists of a team, or two shared lists, cannot have one name.
const NAME_KEY: &str = "hash_lists_name_key";

/// A list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashList {
    /// The list.
    pub id: HashListId,
    /// Its team; none: it is shared.
    pub team: Option<TeamId>,
    /// Its name. It is unique among the lists of the team, or among the shared lists.
    pub name: String,
    /// Its description; may be empty.
    pub description: String,
    /// What an entry means.
    pub kind: ListKind,
    /// The most bits in which the PDQ of a picture that is on it may differ.
    pub max_distance: u32,
    /// Counts the changes of its entries.
    pub revision: i64,
    /// How many entries it has.
    pub entries: i64,
    /// Who created it.
    pub created_by: Option<ActorId>,
    /// When.
    pub created_at: DateTime<Utc>,
}

fn distance(bits: u32) -> i16 {
    i16::try_from(bits).unwrap_or(i16::MAX)
}
