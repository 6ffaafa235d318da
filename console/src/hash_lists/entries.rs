//! Entries of a hash list: all of them or those that were searched, added by their hash or from an item, removed.

mod search;

use std::sync::Arc;

use askama::Template;
use domain::{
    id::{HashEntryId, HashListId, MediaId},
    image_hash::MalformedHash,
    reason::Reason,
};
use management::{
    Refused,
    hash_lists::entries::{self, NewHash},
};
use poem::http::StatusCode;

use self::search::{Found, Row, search};
use super::page_header::{self, Head};
use crate::{
    page::{self, Area, Frame, pager},
    problems::Problems,
    router::Answer,
    error_page::PageError,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "hash_lists/entries.html")]
struct Entries<'a> {
    frame: Frame,
    team: Area,
    tab: &'static str,
    head: Head,
    rows: Vec<Row>,
    /// The address of the next page.
    next: Option<String>,
    /// Whether more was found than is shown, without a next page.
    is_cut: bool,
    hash: &'a str,
    how: &'a str,
    typed: Typed<'a>,
    problems: Problems,
}

/// What was typed to add an entry.
struct Typed<'a> {
    pdq: &'a str,
    sha256: &'a str,
    media: &'a str,
    note: &'a str,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    page(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(visit: Arc<PageRequest>) -> Answer {
    let added = add(&visit).await;
    answer(&visit, added, "hash-added").await
}

pub(crate) async fn add_image(visit: Arc<PageRequest>) -> Answer {
    let added = add_item(&visit).await;
    answer(&visit, added, "image-listed").await
}

pub(crate) async fn remove(visit: Arc<PageRequest>) -> Answer {
    let (caller, list) = page_header::named(&visit)?;
    let entry: HashEntryId = visit.id("entry")?;
    entries::delete(&visit.management, &caller, list, entry).await?;
    Ok(page::see_other(format!(
        "{}?done=hash-removed",
        path(&visit)?
    )))
}

async fn answer(visit: &PageRequest, added: Result<(), Refused>, done: &str) -> Answer {
    match added {
        Ok(()) => Ok(page::see_other(format!("{}?done={done}", path(visit)?))),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

fn path(visit: &PageRequest) -> Result<String, PageError> {
    let list: HashListId = visit.id("list")?;
    Ok(visit.at()?.path(&format!("hash-lists/{list}")))
}

async fn add(visit: &PageRequest) -> Result<(), Refused> {
    let (caller, list) = page_header::named(visit)?;
    let wrong = |field| move |wrong: MalformedHash| Refused::field(field, wrong.to_string());
    let given = |field| Some(visit.form.get(field).trim()).filter(|text| !text.is_empty());
    let sha256 = given("sha256").map(|text| text.parse().map_err(wrong("sha256")));
    let pdq = given("pdq").map(|text| text.parse().map_err(wrong("pdq")));
    let new = NewHash {
        sha256: sha256.transpose()?,
        pdq: pdq.transpose()?,
        note: note(visit)?,
    };
    entries::create(&visit.management, &caller, list, new).await?;
    Ok(())
}

async fn add_item(visit: &PageRequest) -> Result<(), Refused> {
    let (caller, list) = page_header::named(visit)?;
    let item: MediaId = visit
        .form
        .get("media_id")
        .trim()
        .parse()
        .map_err(|_| Refused::field("media_id", "must be the ID of an item"))?;
    entries::add_image(&visit.management, &caller, list, item, note(visit)?).await?;
    Ok(())
}

/// A note that may be empty.
pub(crate) fn note(visit: &PageRequest) -> Result<Option<Reason>, Refused> {
    let text = visit.form.get("note");
    if text.trim().is_empty() {
        return Ok(None);
    }
    let note = Reason::try_from(text.to_owned());
    note.map(Some)
        .map_err(|wrong| Refused::field("note", wrong.to_string()))
}

async fn page(visit: &PageRequest, status: StatusCode, mut problems: Problems) -> Answer {
    let (frame, head, caller) = page_header::of(visit).await?;
    let mut found = Found::default();
    let mut status = status;
    if head.is_own {
        match search(visit, &caller, head.list.id).await {
            Ok(rows) => found = rows,
            Err(refused) => {
                problems = Problems::of(refused)?;
                status = StatusCode::UNPROCESSABLE_ENTITY;
            }
        }
    }
    let page = Entries {
        frame,
        team: visit.at()?,
        tab: "entries",
        head,
        rows: found.rows,
        next: found.next.map(|last| pager::after(visit, last)),
        is_cut: found.is_cut,
        hash: visit.query.get("hash"),
        how: visit.query.get("how"),
        typed: Typed {
            pdq: visit.form.get("pdq"),
            sha256: visit.form.get("sha256"),
            media: visit.form.get("media_id"),
            note: visit.form.get("note"),
        },
        problems,
    };
    Ok(page::html(status, &page))
}
