//! Listing and searching the entries of a hash list.

use domain::{
    id::HashListId,
    image_hash::{HashAlgorithm, Pdq},
    scope::Scope,
};
use store::{
    hash_list::{
        entry::{self, Entry},
        search::{self, Near},
    },
    page::Page,
};

use crate::{Caller, Management, Refused, hash_lists::keep};

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
pub async fn list(
    management: &Management,
    caller: &Caller,
    list: HashListId,
    filter: EntryFilter,
    page: Page,
) -> Result<FoundEntries, Refused> {
    let mut session = management.read(caller, Scope::HashListsRead).await?;
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
