//! The entries of a list. An entry has one hash or both hashes of one picture. A removed entry
//! stays for a while as a row that says so. A process that holds the list in memory sees the
//! removal when it asks for newer rows.

mod add;
mod read;
mod remove;

use chrono::{DateTime, Utc};
use domain::{
    hash_list::EntryHashes,
    id::{ActorId, HashEntryId, MediaId},
    image_hash::{Pdq, Sha256Digest},
};
use uuid::Uuid;

pub(crate) use self::add::insert;
pub use self::{
    add::{Addition, NewEntry, add},
    read::{find, list},
    remove::{REMEMBERED, remove},
};
use super::matches::bytes;
use crate::Error;

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The entry.
    pub id: HashEntryId,
    /// What a picture is recognised by.
    pub hashes: EntryHashes,
    /// What was said of it; may be empty.
    pub note: String,
    /// The item whose image it is, if it was added from one.
    pub media: Option<MediaId>,
    /// The list's revision that added it.
    pub revision: i64,
    /// Who did it.
    pub added_by: Option<ActorId>,
    /// When.
    pub added_at: DateTime<Utc>,
}

fn sha256(hashes: EntryHashes) -> Option<Vec<u8>> {
    hashes.sha256().map(|hash| hash.as_bytes().to_vec())
}

fn pdq(hashes: EntryHashes) -> Option<Vec<u8>> {
    hashes.pdq().map(|hash| hash.as_bytes().to_vec())
}

/// Hashes as they are stored.
pub(super) fn stored(sha256: Option<Vec<u8>>, pdq: Option<Vec<u8>>) -> Result<EntryHashes, Error> {
    let (sha256, pdq) = (bytes(sha256)?, bytes(pdq)?);
    let hashes = EntryHashes::new(sha256.map(Sha256Digest::from), pdq.map(Pdq::from));
    hashes.ok_or_else(|| Error::Unreadable("an entry of a hash list has no hash".to_owned()))
}

pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) sha256: Option<Vec<u8>>,
    pub(super) pdq: Option<Vec<u8>>,
    pub(super) note: String,
    pub(super) media_id: Option<Uuid>,
    pub(super) revision: i64,
    pub(super) added_by: Option<Uuid>,
    pub(super) added_at: DateTime<Utc>,
}

impl TryFrom<Row> for Entry {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            hashes: stored(row.sha256, row.pdq)?,
            note: row.note,
            media: row.media_id.map(MediaId::from),
            revision: row.revision,
            added_by: row.added_by.map(ActorId::from),
            added_at: row.added_at,
        })
    }
}
