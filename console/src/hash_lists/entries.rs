//! Entries of a hash list: all of them or those that were searched, added by their hash or from an item, removed.

use askama::Template;
use chrono::{DateTime, Utc};
use domain::{
    id::{HashEntryId, HashListId, MediaId},
    image_hash::{HashAlgorithm, HashPrefix, InvalidPrefix, Pdq},
};
use management::{
    Caller, Refused,
    hash_lists::entries::{self, Entry, EntryFilter, FoundEntries, NewHash},
    sites::Page,
};

use super::page_header::{self, Head};
use crate::{
    page::{self, Answer, Frame, PageRequest, Problems, pager},
    visible_text::VisibleText,
};

#[derive(Template)]
#[template(path = "hash_lists/entries.html")]
struct Entries {
    frame: Frame,
    tab: &'static str,
    head: Head,
    rows: Vec<Row>,
    next: Option<String>,
    /// Whether more was found than is shown, without a next page.
    is_cut: bool,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let added = add(&request).await;
    answer(&request, added, "hash-added").await
}

pub(crate) async fn add_image(request: PageRequest) -> Answer {
    let added = add_item(&request).await;
    answer(&request, added, "image-listed").await
}

pub(crate) async fn remove(request: PageRequest) -> Answer {
    let (caller, list) = page_header::named(&request)?;
    let entry: HashEntryId = request.id("entry")?;
    entries::delete(&caller, list, entry).await?;
    request.lead_to(format!("hash-lists/{list}?done=hash-removed"))
}

async fn answer(request: &PageRequest, added: Result<(), Refused>, done: &str) -> Answer {
    match added {
        Ok(()) => {
            let list: HashListId = request.id("list")?;
            request.lead_to(format!("hash-lists/{list}?done={done}"))
        }
        Err(refused) => page(request, Problems::of(refused)?).await,
    }
}

async fn add(request: &PageRequest) -> Result<(), Refused> {
    let (caller, list) = page_header::named(request)?;
    let new = NewHash {
        sha256: request.form.read_optional("sha256")?,
        pdq: request.form.read_optional("pdq")?,
        note: request.form.note("note")?,
    };
    entries::create(&caller, list, new).await?;
    Ok(())
}

async fn add_item(request: &PageRequest) -> Result<(), Refused> {
    let (caller, list) = page_header::named(request)?;
    let item: MediaId = request
        .form
        .get("media_id")
        .trim()
        .parse()
        .map_err(|_| Refused::field("media_id", "must be the ID of an item"))?;
    let note = request.form.note("note")?;
    entries::add_image(&caller, list, item, note).await?;
    Ok(())
}

async fn page(request: &PageRequest, mut problems: Problems) -> Answer {
    let (frame, head, caller) = page_header::of(request).await?;
    let mut found = Found::default();
    if head.is_own {
        match search(request, &caller, head.list.id).await {
            Ok(rows) => found = rows,
            Err(refused) => problems = Problems::of(refused)?,
        }
    }
    let page = Entries {
        frame,
        tab: "entries",
        head,
        rows: found.rows,
        next: found.next.map(|last| pager::after(request, last)),
        is_cut: found.is_cut,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// A page of entries.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    /// The entry after which the next page begins.
    next: Option<HashEntryId>,
    /// Whether there may be more, without a next page.
    is_cut: bool,
}

/// The entries that the address asks for.
async fn search(
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
    let found = entries::list(caller, list, filter(request)?, page).await?;
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

struct Row {
    entry: Entry,
    note: VisibleText,
    /// In how many bits it differs from the hash that was searched.
    distance: Option<u32>,
    added: DateTime<Utc>,
}

impl Row {
    fn new(entry: Entry, distance: Option<u32>) -> Self {
        Self {
            note: VisibleText::new(&entry.note, &[]),
            added: entry.added_at,
            entry,
            distance,
        }
    }
}
