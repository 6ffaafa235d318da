//! Entries of a hash list: list and search, add, read, remove.

mod openapi;
mod schemas;

use std::sync::Arc;

use api_common::{
    body::JsonBody,
    path_parameters::Path,
    problem::Refusal,
    query_parameters::Query,
    response::{Created, Json, NoContent},
};
use domain::{
    id::{HashEntryId, HashListId},
    image_hash::{HashAlgorithm, HashPrefix, Pdq},
};
use management::{
    Management,
    hash_lists::entries::{self, EntryFilter, FoundEntries},
};
use poem::web::Data;
use poem_openapi::OpenApi;
use store::hash_list::entry;

use crate::{
    PREFIX, Tag,
    caller::Caller,
    list::{After, Limit, List, Part},
};

pub(super) use openapi::{descriptions, entry_example};
pub(crate) use schemas::{HashEntry, NewHashEntry};

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
        management: Data<&Arc<Management>>,
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
        let found = entries::list(&management, &caller, list, filter, part.page()).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<NewHashEntry>,
    ) -> Result<Created<HashEntry>, Refusal> {
        let (list, new) = (hash_list_id.0, request.value.into());
        let entry = entries::create(&management, &caller, list, new).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The entry.
        hash_entry_id: Path<HashEntryId>,
    ) -> Result<Json<HashEntry>, Refusal> {
        let (list, entry) = (hash_list_id.0, hash_entry_id.0);
        let entry = entries::get(&management, &caller, list, entry).await?;
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
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The hash list.
        hash_list_id: Path<HashListId>,
        /// The entry.
        hash_entry_id: Path<HashEntryId>,
    ) -> Result<NoContent, Refusal> {
        let (list, entry) = (hash_list_id.0, hash_entry_id.0);
        entries::delete(&management, &caller, list, entry).await?;
        Ok(NoContent)
    }
}

/// An entry that was just added to a list.
pub(super) fn created(list: HashListId, entry: entry::Entry) -> Created<HashEntry> {
    Created {
        location: format!("{PREFIX}/hash-lists/{list}/entries/{}", entry.id),
        value: entry.into(),
    }
}
