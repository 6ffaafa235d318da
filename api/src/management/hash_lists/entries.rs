//! What is on a hash list: list and search, add, read, remove.

use std::{fmt, str::FromStr, sync::Arc};

use domain::{
    id::{ActorId, HashEntryId, HashListId, MediaId},
    image_hash::{HashAlgorithm, Pdq, Sha256Digest},
    reason::Reason,
    scope::Scope,
};
use management::{
    Management,
    hash_lists::entries::{self, EntryFilter, FoundEntries, NewHash},
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi, registry::MetaSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::hash_list::entry;
use uuid::Uuid;

use crate::{
    answer::{Created, Json, NoContent},
    management::{
        PREFIX, Tag,
        caller::Caller,
        document::{Operation, example},
        list::{After, Limit, List, Part},
    },
    member::{Described, Member, Time},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// An entry of a hash list.
#[derive(Serialize, Object)]
pub(crate) struct HashEntry {
    /// The ID of the entry.
    id: Uuid,
    /// The SHA-256 of the file. `null` if only the PDQ hash is known.
    #[oai(nullable)]
    sha256: Option<Member<Sha256Digest>>,
    /// The PDQ hash of the image. `null` if only the SHA-256 is known.
    #[oai(nullable)]
    pdq: Option<Member<Pdq>>,
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
    added_at: Member<Time>,
}

impl From<entry::Entry> for HashEntry {
    fn from(entry: entry::Entry) -> Self {
        Self {
            id: entry.id.as_uuid(),
            sha256: entry.hashes.sha256().map(Member),
            pdq: entry.hashes.pdq().map(Member),
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
    sha256: Option<Member<Sha256Digest>>,
    /// The PDQ hash of an image.
    #[oai(nullable)]
    pdq: Option<Member<Pdq>>,
    /// A note about the entry.
    #[oai(nullable)]
    note: Option<Member<Reason>>,
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

/// A hash, or its first digits.
pub(crate) struct HashPrefix {
    from: [u8; 32],
    to: [u8; 32],
}

/// The text is not the beginning of a hash.
pub(crate) struct InvalidPrefix;

impl FromStr for HashPrefix {
    type Err = InvalidPrefix;

    fn from_str(text: &str) -> Result<Self, InvalidPrefix> {
        if !(4..=64).contains(&text.len()) {
            return Err(InvalidPrefix);
        }
        let padded = |digit: char| {
            let mut padded = text.to_owned();
            padded.extend(std::iter::repeat_n(digit, 64 - text.len()));
            padded.parse::<Pdq>().map_err(|_| InvalidPrefix)
        };
        Ok(Self {
            from: *padded('0')?.as_bytes(),
            to: *padded('f')?.as_bytes(),
        })
    }
}

impl Described for HashPrefix {
    fn expected() -> String {
        "4 to 64 hexadecimal digits".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            pattern: Some("^[0-9A-Fa-f]{4,64}$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl fmt::Debug for HashPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashPrefix").finish_non_exhaustive()
    }
}

pub(crate) struct Entries;

#[OpenApi(tag = "Tag::HashLists")]
impl Entries {
    /// List or search the entries of a hash list
    ///
    /// Without parameters, returns all entries in the order in which they were added. With `hash`, returns up to `limit` entries
    /// with a hash that equals it or begins with it, without a cursor. With `near`, returns the entries near a PDQ hash, with
    /// their distances. For that, 50,000 entries are compared for each page, so a page may have few entries, or none, and still
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

pub(super) fn entry_example() -> Value {
    json!({
        "id": example::HASH_ENTRY,
        "sha256": null,
        "pdq": example::PDQ,
        "note": "Reported twice in January.",
        "media_id": null,
        "distance": null,
        "revision": 12,
        "added_by": example::TOKEN,
        "added_at": example::CREATED_AT,
    })
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    let entry = entry_example();
    vec![
        Operation {
            problems: &[Code::SharedList],
            answer: Some(example::list(&entry)),
            ..Operation::new("listHashEntries", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::SharedList, Code::AlreadyListed, Code::LimitReached],
            request: Some(json!({ "pdq": example::PDQ, "note": "Reported twice in January." })),
            answer: Some(entry.clone()),
            ..Operation::new("createHashEntry", Scope::HashListsWrite)
        },
        Operation {
            problems: &[Code::SharedList],
            answer: Some(entry),
            ..Operation::new("getHashEntry", Scope::HashListsRead)
        },
        Operation {
            problems: &[Code::SharedList],
            ..Operation::new("deleteHashEntry", Scope::HashListsWrite)
        },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_from_the_first_hash_to_the_last_one_that_begins_so() {
        let range = |text: &str| {
            let HashPrefix { from, to } = text.parse().ok()?;
            Some((Pdq::from(from).to_string(), Pdq::from(to).to_string()))
        };
        let (from, to) = range("F8f8f").unwrap();
        assert_eq!(from, format!("f8f8f{}", "0".repeat(59)));
        assert_eq!(to, format!("f8f8f{}", "f".repeat(59)));
        let whole = "ab".repeat(32);
        assert_eq!(range(&whole), Some((whole.clone(), whole.clone())));
        for text in ["", "f8f", "f8fg", "\u{e9}\u{e9}", &format!("{whole}a")] {
            assert_eq!(range(text), None, "{text:?}");
        }
    }
}
