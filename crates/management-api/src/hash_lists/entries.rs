//! Entries of a hash list: list and search, add, read, remove.

use api_common::{
    Code, Created, Field, Json, JsonBody, NoContent, Path, Query, Refusal, Schema, Time,
};
use domain::{
    id::{ActorId, HashEntryId, HashListId, MediaId},
    image_hash::{HashAlgorithm, HashPrefix, Pdq, Sha256Digest},
    reason::Reason,
    scope::Scope,
};
use management::hash_lists::entries::{self, EntryFilter, FoundEntries, NewHash};
use poem_openapi::OpenApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::hash_list::entry;
use uuid::Uuid;

use crate::{After, Caller, Limit, List, Operation, PREFIX, Part, Tag, example_values};

#[derive(Default)]
pub(crate) struct Entries;

#[OpenApi(tag = "Tag::HashLists")]
impl Entries {
    /// List or search the entries of a hash list
    ///
    /// Without parameters, returns all entries in the order in which they were added. With `hash`, returns up to `limit` entries
    /// with a hash that equals it or begins with it, without a cursor. With `near`, returns the entries near a PDQ hash, with
    /// their distances. For that, 20,000 entries are compared for each page, so a page may have few entries, or none, and still
    /// have a `next_cursor`.
    #[oai(
        path = "/hash-lists/:hash_list_id/entries",
        method = "get",
        operation_id = "listHashEntries"
    )]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are the request's parameters"
    )]
    async fn list_hash_entries(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// Only entries with this hash, or with a hash that begins with these digits.
        hash: Query<HashPrefix>,
        /// The kind of hash that `hash` refers to. The default is `pdq`.
        algorithm: Query<HashAlgorithm>,
        /// Only entries near this PDQ hash: within the list's `max_distance`.
        near: Query<Pdq>,
        /// The most items in one page.
        limit: Query<Limit>,
        /// Where to continue: the `next_cursor` of the previous page.
        cursor: After,
    ) -> Result<Json<List<HashEntry>>, Refusal> {
        let part = Part::new(&limit, &cursor);
        let filter = EntryFilter {
            hashes: hash.0.map(|HashPrefix { from, to }| (from, to)),
            algorithm: algorithm.0,
            near: near.0,
        };
        let list = hash_list_id.0;
        let found = entries::list(&caller, list, filter, part.page()).await?;
        Ok(Json(match found {
            FoundEntries::All(entries) => part.list(entries, |entry| entry.id.as_uuid()),
            FoundEntries::WithHash(entries) => List::whole(entries),
            FoundEntries::Near(near) => {
                part.list_to(near.entries, near.next.map(HashEntryId::as_uuid))
            }
        }))
    }

    /// Add a hash to a list
    ///
    /// Images that are submitted from the answer on are compared with it. A list has each hash, or each pair of both, once.
    #[oai(
        path = "/hash-lists/:hash_list_id/entries",
        method = "post",
        operation_id = "createHashEntry"
    )]
    async fn create_hash_entry(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<NewHashEntry>,
    ) -> Result<Created<HashEntry>, Refusal> {
        let (list, new) = (hash_list_id.0, request.value.into());
        let entry = entries::create(&caller, list, new).await?;
        Ok(created(list, entry))
    }

    /// Read an entry of a hash list
    #[oai(
        path = "/hash-lists/:hash_list_id/entries/:hash_entry_id",
        method = "get",
        operation_id = "getHashEntry"
    )]
    async fn get_hash_entry(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The entry.
        hash_entry_id: Path<HashEntryId>,
    ) -> Result<Json<HashEntry>, Refusal> {
        let (list, entry) = (hash_list_id.0, hash_entry_id.0);
        let entry = entries::get(&caller, list, entry).await?;
        Ok(Json(entry.into()))
    }

    /// Remove a hash from a list
    ///
    /// Images that are submitted from the answer on are not compared with it. What it matched before stays matched.
    #[oai(
        path = "/hash-lists/:hash_list_id/entries/:hash_entry_id",
        method = "delete",
        operation_id = "deleteHashEntry"
    )]
    async fn delete_hash_entry(
        &self,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The entry.
        hash_entry_id: Path<HashEntryId>,
    ) -> Result<NoContent, Refusal> {
        let (list, entry) = (hash_list_id.0, hash_entry_id.0);
        entries::delete(&caller, list, entry).await?;
        Ok(NoContent)
    }
}

/// An entry that was just added to a list.
pub(super) fn created(list: HashListId, entry: entry::Entry) -> Created<HashEntry> {
    let location = format!("{PREFIX}/hash-lists/{list}/entries/{}", entry.id);
    Created::at(location, entry)
}

/// An entry of a hash list.
#[derive(Serialize, Schema)]
pub(crate) struct HashEntry {
    /// The ID of the entry.
    id: Uuid,
    /// The SHA-256 of the file. `null` if only the PDQ hash is known.
    #[schema(nullable)]
    sha256: Option<Field<Sha256Digest>>,
    /// The PDQ hash of the image. `null` if only the SHA-256 is known.
    #[schema(nullable)]
    pdq: Option<Field<Pdq>>,
    /// A note about the entry.
    #[schema(nullable)]
    note: Option<String>,
    /// The media item whose image was added. `null` if the entry was added by its hash.
    #[schema(nullable)]
    media_id: Option<Uuid>,
    /// By how many bits it differs from the hash in `near`. `null` if you did not search with `near`.
    #[schema(nullable)]
    distance: Option<u32>,
    /// The revision of the list that added it.
    revision: i64,
    /// The token that added it.
    #[schema(nullable)]
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
#[derive(Deserialize, Schema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewHashEntry {
    /// The SHA-256 of a file. Give this, `pdq`, or both for one image.
    #[schema(nullable)]
    sha256: Option<Field<Sha256Digest>>,
    /// The PDQ hash of an image.
    #[schema(nullable)]
    pdq: Option<Field<Pdq>>,
    /// A note about the entry.
    #[schema(nullable)]
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

pub(crate) fn entry_example() -> Value {
    json!({
        "id": example_values::HASH_ENTRY,
        "sha256": null,
        "pdq": example_values::PDQ,
        "note": "Reported twice in January.",
        "media_id": null,
        "distance": null,
        "revision": 12,
        "added_by": example_values::TOKEN,
        "added_at": example_values::CREATED_AT,
    })
}

/// What the document says beyond the signatures.
pub(crate) fn descriptions() -> Vec<Operation> {
    let entry = entry_example();
    vec![
        Operation::new("listHashEntries", Scope::HashListsRead)
            .problems(&[Code::SharedList])
            .answer(example_values::list(&entry)),
        Operation::new("createHashEntry", Scope::HashListsWrite)
            .problems(&[Code::SharedList, Code::AlreadyListed, Code::LimitReached])
            .request(json!({ "pdq": example_values::PDQ, "note": "Reported twice in January." }))
            .answer(entry.clone()),
        Operation::new("getHashEntry", Scope::HashListsRead)
            .problems(&[Code::SharedList])
            .answer(entry),
        Operation::new("deleteHashEntry", Scope::HashListsWrite).problems(&[Code::SharedList]),
    ]
}
