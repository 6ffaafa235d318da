//! What stands on a hash list: list and search, put one on, read it, take it off.

use std::{fmt, str::FromStr, sync::Arc};

use domain::{
    audit::Action,
    hash_list::EntryHashes,
    id::{ActorId, HashEntryId, HashListId, MediaId},
    image_hash::{HashAlgorithm, Pdq, Sha256Digest},
    reason::Reason,
    scope::Scope,
};
use poem::web::Data;
use poem_openapi::{Object, OpenApi, registry::MetaSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{
    hash_list::{
        MAX_ENTRIES,
        entry::{self, Addition, NewEntry},
        search,
    },
    page::Page,
};
use uuid::Uuid;

use super::{keep, lock, record};
use crate::{
    answer::{Created, Json, NoContent},
    management::{
        Management, PREFIX, Tag,
        document::{Operation, example},
        list::{After, Limit, List, Part},
        session::{Caller, Session},
    },
    member::{Described, Member, Time},
    path::Path,
    payload::JsonBody,
    problem::{Code, Refusal},
    query::Query,
};

/// What stands on a hash list.
#[derive(Serialize, Object)]
pub(in super::super) struct HashEntry {
    /// The entry.
    id: Uuid,
    /// The SHA-256 of the file; null where only the look is known.
    #[oai(nullable)]
    sha256: Option<Member<Sha256Digest>>,
    /// The PDQ hash of the image; null where only the file is known.
    #[oai(nullable)]
    pdq: Option<Member<Pdq>>,
    /// What was said of it.
    #[oai(nullable)]
    note: Option<String>,
    /// The item whose image it is, if it was added from one.
    #[oai(nullable)]
    media_id: Option<Uuid>,
    /// In how many bits it differs from the hash in `near`; null where nothing was asked for.
    #[oai(nullable)]
    distance: Option<u32>,
    /// The list's revision that added it.
    revision: i64,
    /// The token with which it was added.
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

/// A hash to be put on a list.
#[derive(Deserialize, Object)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct NewHashEntry {
    /// The SHA-256 of a file. This, `pdq`, or both of one image.
    #[oai(nullable)]
    sha256: Option<Member<Sha256Digest>>,
    /// The PDQ hash of an image.
    #[oai(nullable)]
    pdq: Option<Member<Pdq>>,
    /// A word about it.
    #[oai(nullable)]
    note: Option<Member<Reason>>,
}

/// A hash, or its first digits.
pub(in super::super) struct HashPrefix {
    from: [u8; 32],
    to: [u8; 32],
}

/// The text is no beginning of a hash.
pub(in super::super) struct InvalidPrefix;

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
    /// All of them, in the order in which they were added; those with a hash that is or begins like `hash`, up to `limit` and
    /// without a cursor; or those that are `near` a PDQ hash, with their distances. For the last, 50,000 entries are compared for
    /// each part, so a part may have few entries, or none, and yet a `next_cursor`.
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
        /// The list.
        hash_list_id: Path<HashListId>,
        /// Only those with this hash, or with one that begins with these digits.
        hash: Query<HashPrefix>,
        /// Which hashes `hash` is about; `pdq` if nothing is said.
        algorithm: Query<HashAlgorithm>,
        /// Only those that are near this PDQ hash: within the list's `max_distance`.
        near: Query<Pdq>,
        /// How many at most.
        limit: Query<Limit>,
        /// Where to go on: `next_cursor` of the part before.
        cursor: After,
    ) -> Result<Json<List<HashEntry>>, Refusal> {
        let mut session = management.read(&caller, Scope::HashListsRead).await?;
        let list = keep(&mut session, hash_list_id.0).await?;
        let part = Part::new(&limit, &cursor);
        let conn = session.conn();
        match (hash.0, near.0) {
            (Some(_), Some(_)) => Err(Refusal::invalid_field(
                "near",
                "must not be given together with `hash`",
            )),
            (Some(HashPrefix { from, to }), None) => {
                let algorithm = algorithm.0.unwrap_or(HashAlgorithm::Pdq);
                let limit = part.page().limit - 1;
                let found = search::with_hash(conn, list.id, algorithm, (from, to), limit).await?;
                Ok(Json(List::whole(found)))
            }
            (None, Some(near)) => {
                let page = Page {
                    limit: part.page().limit - 1,
                    ..part.page()
                };
                let near = search::near(conn, list.id, near, list.max_distance, page).await?;
                let next = near.next.map(HashEntryId::as_uuid);
                Ok(Json(part.list_to(near.entries, next)))
            }
            (None, None) => {
                let entries = entry::list(conn, list.id, part.page()).await?;
                Ok(Json(part.list(entries, |entry| entry.id.as_uuid())))
            }
        }
    }

    /// Put a hash on a list
    ///
    /// Images that come from the answer on are compared with it. A hash, or a pair of both, stands on a list once.
    #[oai(
        path = "/hash-lists/:hash_list_id/entries",
        method = "post",
        operation_id = "createHashEntry"
    )]
    async fn create_hash_entry(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The list.
        hash_list_id: Path<HashListId>,
        request: JsonBody<NewHashEntry>,
    ) -> Result<Created<HashEntry>, Refusal> {
        let new = request.value;
        let hashes = EntryHashes::new(new.sha256.map(|hash| hash.0), new.pdq.map(|hash| hash.0));
        let hashes = hashes.ok_or_else(|| {
            Refusal::invalid_field("pdq", "is missing: there must be `pdq`, `sha256` or both")
        })?;
        let entry = NewEntry {
            hashes,
            note: new.note.as_ref().map_or("", |note| note.as_str()),
            media: None,
        };
        let session = management.change(&caller, Scope::HashListsWrite).await?;
        add(session, hash_list_id.0, entry).await
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
        /// The list.
        hash_list_id: Path<HashListId>,
        /// The entry.
        hash_entry_id: Path<HashEntryId>,
    ) -> Result<Json<HashEntry>, Refusal> {
        let mut session = management.read(&caller, Scope::HashListsRead).await?;
        let list = keep(&mut session, hash_list_id.0).await?;
        let entry = entry::find(session.conn(), list.id, hash_entry_id.0).await?;
        Ok(Json(entry.ok_or_else(unknown)?.into()))
    }

    /// Take a hash off a list
    ///
    /// Images that come from the answer on are not compared with it. What it matched before stays matched.
    #[oai(
        path = "/hash-lists/:hash_list_id/entries/:hash_entry_id",
        method = "delete",
        operation_id = "deleteHashEntry"
    )]
    async fn delete_hash_entry(
        &self,
        management: Data<&Arc<Management>>,
        caller: Caller,
        /// The list.
        hash_list_id: Path<HashListId>,
        /// The entry.
        hash_entry_id: Path<HashEntryId>,
    ) -> Result<NoContent, Refusal> {
        let mut session = management.change(&caller, Scope::HashListsWrite).await?;
        let list = lock(&mut session, hash_list_id.0).await?;
        let entry = entry::find(session.conn(), list.id, hash_entry_id.0).await?;
        let entry = entry.ok_or_else(unknown)?;
        entry::remove(session.conn(), list.id, entry.id).await?;
        let (id, hashes) = (entry.id.as_uuid(), hashes(entry.hashes));
        let details = json!({ "deleted": { "hash_list_id": list.id, "hashes": hashes } });
        record(session, Action::HashEntryDelete, list.team, id, details).await?;
        Ok(NoContent)
    }
}

/// Puts an entry on a list that the caller keeps.
pub(super) async fn add(
    mut session: Session,
    list: HashListId,
    new: NewEntry<'_>,
) -> Result<Created<HashEntry>, Refusal> {
    let list = lock(&mut session, list).await?;
    let by = session.actor();
    let id = match entry::add(session.conn(), list.id, new, by).await? {
        Addition::Added(id) => id,
        Addition::There(id) => {
            let detail = format!("It stands on the list already, as the entry {id}.");
            return Err(Refusal::new(Code::AlreadyListed, detail));
        }
        Addition::Full => {
            let detail =
                format!("The lists have {MAX_ENTRIES} entries together, which is the most.");
            return Err(Refusal::new(Code::LimitReached, detail));
        }
    };
    let entry = entry::find(session.conn(), list.id, id).await?;
    let entry = entry.ok_or_else(Refusal::internal)?;
    let details = json!({ "created": {
        "hash_list_id": list.id, "hashes": hashes(entry.hashes), "media_id": entry.media
    } });
    let action = Action::HashEntryCreate;
    record(session, action, list.team, id.as_uuid(), details).await?;
    Ok(Created {
        location: format!("{PREFIX}/hash-lists/{}/entries/{id}", list.id),
        value: entry.into(),
    })
}

fn hashes(hashes: EntryHashes) -> Value {
    json!({ "sha256": hashes.sha256(), "pdq": hashes.pdq() })
}

fn unknown() -> Refusal {
    Refusal::not_found("entry")
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
