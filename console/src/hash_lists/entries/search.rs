//! Which entries of a hash list a page shows: all of them, those whose hash begins with some digits, or those that look alike.

use domain::{
    id::{HashEntryId, HashListId},
    image_hash::{HashAlgorithm, HashPrefix, InvalidPrefix, Pdq},
};
use management::{
    Caller, Refused,
    hash_lists::entries::{self, Entry, EntryFilter, FoundEntries},
    sites::Page,
};

use crate::{page::pager, request::PageRequest, time::Moment, visible_text::VisibleText};

/// A page of entries.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// The entry after which the next page begins.
    pub(super) next: Option<HashEntryId>,
    /// Whether there may be more, without a next page.
    pub(super) is_cut: bool,
}

/// The entries that the address asks for.
pub(super) async fn search(
    request: &PageRequest,
    caller: &Caller,
    list: HashListId,
) -> Result<Found, Refused> {
    let asked = pager::asked(request);
    // One more than is shown tells whether there are more.
    let page = Page {
        limit: asked.limit + 1,
        ..asked
    };
    let rows = usize::try_from(asked.limit).unwrap_or(usize::MAX);
    let found = entries::list(&request.management, caller, list, filter(request)?, page).await?;
    Ok(match found {
        FoundEntries::All(mut entries) => {
            let is_full = entries.len() > rows;
            entries.truncate(rows);
            Found {
                next: entries.last().filter(|_| is_full).map(|entry| entry.id),
                rows: entries
                    .into_iter()
                    .map(|entry| Row::new(entry, None))
                    .collect(),
                is_cut: false,
            }
        }
        FoundEntries::WithHash(entries) => Found {
            next: None,
            is_cut: entries.len() >= rows,
            rows: entries
                .into_iter()
                .map(|entry| Row::new(entry, None))
                .collect(),
        },
        FoundEntries::Near(near) => Found {
            rows: near
                .entries
                .into_iter()
                .map(|(entry, distance)| Row::new(entry, Some(distance)))
                .collect(),
            next: near.next,
            is_cut: false,
        },
    })
}

/// What the address asks for.
fn filter(request: &PageRequest) -> Result<EntryFilter, Refused> {
    let hash = request.query.get("hash").trim();
    if hash.is_empty() {
        return Ok(EntryFilter::default());
    }
    if request.query.get("how") == "near" {
        let near = hash.parse::<Pdq>();
        let near = near.map_err(|wrong| Refused::field("hash", wrong.to_string()))?;
        return Ok(EntryFilter {
            near: Some(near),
            ..EntryFilter::default()
        });
    }
    let wrong = |wrong: InvalidPrefix| Refused::field("hash", wrong.to_string());
    let prefix: HashPrefix = hash.parse().map_err(wrong)?;
    let algorithm = match request.query.get("how") {
        "sha256" => HashAlgorithm::Sha256,
        _ => HashAlgorithm::Pdq,
    };
    Ok(EntryFilter {
        hashes: Some((prefix.from, prefix.to)),
        algorithm: Some(algorithm),
        near: None,
    })
}

/// An entry as a page shows it.
pub(super) struct Row {
    pub(super) entry: Entry,
    pub(super) note: VisibleText,
    /// In how many bits it differs from the hash that was searched.
    pub(super) distance: Option<u32>,
    pub(super) added: Moment,
}

impl Row {
    fn new(entry: Entry, distance: Option<u32>) -> Self {
        Self {
            note: VisibleText::new(&entry.note, &[]),
            added: entry.added_at.into(),
            entry,
            distance,
        }
    }
}
