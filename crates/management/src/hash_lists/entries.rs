//! Entries of a hash list: list and search, add, read, remove.

use domain::{
    audit::Action,
    hash_list::EntryHashes,
    id::{HashEntryId, HashListId, MediaId},
    image_hash::{HashAlgorithm, Pdq, Sha256Digest},
    reason::Reason,
    scope::Scope,
};
use serde_json::{Value, json};
pub use store::hash_list::{
    entry::Entry,
    search::{COMPARED, Near},
};
use store::{
    hash_list::{
        MAX_ENTRIES,
        entry::{self, Addition},
        matches, search,
    },
    page::Page,
};

use super::{keep, lock};
use crate::{Caller, Conflict, Noun, Refused, Session, boxed, record};

/// A hash to add.
#[derive(Debug)]
pub struct NewHash {
    /// The SHA-256 of a file. This, `pdq`, or both of one image.
    pub sha256: Option<Sha256Digest>,
    /// The PDQ hash of an image.
    pub pdq: Option<Pdq>,
    /// A note about it.
    pub note: Option<Reason>,
}

/// Adds a hash to a list.
///
/// # Errors
/// There is no hash; the caller may not do it; there is no such list within reach, or it is shared; the hash is on the list
/// already; the team's lists are full.
#[boxed]
pub async fn create(caller: &Caller, list: HashListId, new: NewHash) -> Result<Entry, Refused> {
    let hashes = EntryHashes::new(new.sha256, new.pdq);
    let hashes = hashes.ok_or_else(|| {
        let message = "is missing: there must be `pdq`, `sha256` or both";
        Refused::field("pdq", message)
    })?;
    let entry = entry::NewEntry {
        hashes,
        note: new.note.as_ref().map_or("", Reason::as_str),
        media: None,
    };
    let session = caller.change(Scope::HashListsWrite).await?;
    add(session, list, entry).await
}

/// Adds an item's image to a list, by the hashes that are stored with the item. The caller needs the scope `media:read`, too.
///
/// # Errors
/// The caller may not do it; there is no such list within reach, or it is shared; the item is not of the list's team, or has
/// no hashes; its image is on the list already; the team's lists are full.
#[boxed]
pub async fn add_image(
    caller: &Caller,
    list: HashListId,
    media: MediaId,
    note: Option<Reason>,
) -> Result<Entry, Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let list = keep(&mut session, list).await?;
    if !session.has(Scope::MediaRead) {
        return Err(Refused::missing_scope(Scope::MediaRead));
    }
    // Only operators add to a shared list; the image may belong to any team.
    let found = matches::hashes_of(session.conn(), list.team.into(), media).await?;
    let found = found.ok_or_else(|| Refused::field("media_id", "is no media item of the team"))?;
    let hashes = found.hashes.ok_or_else(|| {
        let detail = "The item has no image, or none that could be hashed.";
        Refused::conflict(Conflict::ImageNotHashed, detail)
    })?;
    let entry = entry::NewEntry {
        hashes,
        note: note.as_ref().map_or("", Reason::as_str),
        media: Some(media),
    };
    add(session, list.id, entry).await
}

/// An entry of a list.
///
/// # Errors
/// The caller may not do it; there is no such list within reach, or it is shared; it has no such entry.
#[boxed]
pub async fn get(caller: &Caller, list: HashListId, entry: HashEntryId) -> Result<Entry, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    let list = keep(&mut session, list).await?;
    find(&mut session, list.id, entry).await
}

/// Removes an entry from a list. What it matched before stays matched.
///
/// # Errors
/// The caller may not do it; there is no such list within reach, or it is shared; it has no such entry.
#[boxed]
pub async fn delete(caller: &Caller, list: HashListId, entry: HashEntryId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::HashListsWrite).await?;
    let list = lock(&mut session, list).await?;
    let entry = find(&mut session, list.id, entry).await?;
    entry::remove(session.conn(), list.id, entry.id).await?;
    let (id, hashes) = (entry.id.as_uuid(), hashes(entry.hashes));
    let details = json!({ "deleted": { "hash_list_id": list.id, "hashes": hashes } });
    record(session, Action::HashEntryDelete, list.team, id, details).await
}

/// Adds an entry to a list whose entries the caller can change.
async fn add(
    mut session: Session,
    list: HashListId,
    new: entry::NewEntry<'_>,
) -> Result<Entry, Refused> {
    let list = lock(&mut session, list).await?;
    let by = session.actor();
    let id = match entry::add(session.conn(), list.id, new, by).await? {
        Addition::Added(id) => id,
        Addition::There(id) => {
            let detail = format!("It stands on the list already, as the entry {id}.");
            return Err(Refused::conflict(Conflict::AlreadyListed, detail));
        }
        Addition::Full => {
            let detail =
                format!("The lists have {MAX_ENTRIES} entries together, which is the most.");
            return Err(Refused::conflict(Conflict::LimitReached, detail));
        }
    };
    let entry = entry::find(session.conn(), list.id, id).await?;
    let entry = entry.ok_or(Refused::Internal)?;
    let details = json!({ "created": {
        "hash_list_id": list.id, "hashes": hashes(entry.hashes), "media_id": entry.media
    } });
    let action = Action::HashEntryCreate;
    record(session, action, list.team, id.as_uuid(), details).await?;
    Ok(entry)
}

async fn find(
    session: &mut Session,
    list: HashListId,
    entry: HashEntryId,
) -> Result<Entry, Refused> {
    let entry = entry::find(session.conn(), list, entry).await?;
    entry.ok_or(Refused::NotFound(Noun::Entry))
}

fn hashes(hashes: EntryHashes) -> Value {
    json!({ "sha256": hashes.sha256(), "pdq": hashes.pdq() })
}

/// Which entries to find: all of them, those with a hash in a range, or those near a hash.
#[derive(Debug, Default)]
pub struct EntryFilter {
    /// Only entries with a hash from the first one to the second one.
    pub hashes: Option<([u8; 32], [u8; 32])>,
    /// The kind of hash that the range refers to.
    pub algorithm: Option<HashAlgorithm>,
    /// Only entries near this hash, within the list's distance.
    pub near: Option<Pdq>,
}

/// Entries that were found.
#[derive(Debug)]
pub enum FoundEntries {
    /// A page of all entries, in the order in which they were added. It is full unless it is the
    /// last one.
    All(Vec<Entry>),
    /// Entries with a hash in the range, in the order of hashes. There is no next page.
    WithHash(Vec<Entry>),
    /// Entries near the hash.
    Near(Near),
}

/// Lists or searches the entries of a hash list. `page` asks for one entry more than is shown, to
/// find out whether there are more. A search finds that out in another way, and returns one entry
/// less.
///
/// # Errors
/// The caller may not do it; there is no such list within reach, or it is shared; both a range and a hash are given.
#[boxed]
pub async fn list(
    caller: &Caller,
    list: HashListId,
    filter: EntryFilter,
    page: Page,
) -> Result<FoundEntries, Refused> {
    let mut session = caller.read(Scope::HashListsRead).await?;
    let list = keep(&mut session, list).await?;
    let conn = session.conn();
    let shown = Page {
        limit: page.limit - 1,
        ..page
    };
    Ok(match (filter.hashes, filter.near) {
        (Some(_), Some(_)) => {
            let message = "must not be given together with `hash`";
            return Err(Refused::field("near", message));
        }
        (Some(range), None) => {
            let algorithm = filter.algorithm.unwrap_or(HashAlgorithm::Pdq);
            let found = search::with_hash(conn, list.id, algorithm, range, shown.limit).await?;
            FoundEntries::WithHash(found)
        }
        (None, Some(near)) => {
            let found = search::near(conn, list.id, near, list.max_distance, shown).await?;
            FoundEntries::Near(found)
        }
        (None, None) => FoundEntries::All(entry::list(conn, list.id, page).await?),
    })
}
