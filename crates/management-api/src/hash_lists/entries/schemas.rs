//! Entries of hash lists in requests and responses.

use api_common::field::{Field, Time};
use domain::{
    id::{ActorId, MediaId},
    image_hash::{Pdq, Sha256Digest},
    reason::Reason,
};
use management::hash_lists::entries::NewHash;
use poem_openapi::Object;
use serde::{Deserialize, Serialize};
use store::hash_list::entry;
use uuid::Uuid;

/// An entry of a hash list.
#[derive(Serialize, Object)]
pub(crate) struct HashEntry {
    /// The ID of the entry.
    id: Uuid,
    /// The SHA-256 of the file. `null` if only the PDQ hash is known.
    #[oai(nullable)]
    sha256: Option<Field<Sha256Digest>>,
    /// The PDQ hash of the image. `null` if only the SHA-256 is known.
    #[oai(nullable)]
    pdq: Option<Field<Pdq>>,
    /// A note about the entry.
    #[oai(nullable)]
    note: Option<String>,
    /// The media item whose image was added. `null` if the entry was added by its hash.
    #[oai(nullable)]
    media_id: Option<Uuid>,
    /// By how many bits it differs from the hash in `near`. `null` if you did not search with `near`.
    #[oai(nullable)]
    distance: Option<u32>,
    /// The revision of the list that added it.
    revision: i64,
    /// The token that added it.
    #[oai(nullable)]
    added_by: Option<Uuid>,
    /// When it was added.
    added_at: Field<Time>,
}

impl From<entry::Entry> for HashEntry {
    fn from(entry: entry::Entry) -> Self {
        Self {
            id: entry.id.as_uuid(),
            sha256: entry.hashes.sha256().map(Field),
            pdq: entry.hashes.pdq().map(Field),
            note: (!entry.note.is_empty()).then_some(entry.note),
            media_id: entry.media.map(MediaId::as_uuid),
            distance: None,
            revision: entry.revision,
            added_by: entry.added_by.map(ActorId::as_uuid),
            added_at: entry.added_at.into(),
        }
    }
}

impl From<(entry::Entry, u32)> for HashEntry {
    fn from((entry, distance): (entry::Entry, u32)) -> Self {
        Self {
            distance: Some(distance),
            ..entry.into()
        }
    }
}

/// A hash to add to a list.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHashEntry {
    /// The SHA-256 of a file. Give this, `pdq`, or both for one image.
    #[oai(nullable)]
    sha256: Option<Field<Sha256Digest>>,
    /// The PDQ hash of an image.
    #[oai(nullable)]
    pdq: Option<Field<Pdq>>,
    /// A note about the entry.
    #[oai(nullable)]
    note: Option<Field<Reason>>,
}

impl From<NewHashEntry> for NewHash {
    fn from(new: NewHashEntry) -> Self {
        Self {
            sha256: new.sha256.map(|hash| hash.0),
            pdq: new.pdq.map(|hash| hash.0),
            note: new.note.map(|note| note.0),
        }
    }
}
