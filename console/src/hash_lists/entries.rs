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
    error_page::PageError,
    page::{self, Area, Frame, pager},
    problems::Problems,
    request::PageRequest,
    router::Answer,
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

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let added = add(&request).await;
    answer(&request, added, "hash-added").await
}

pub(crate) async fn add_image(request: Arc<PageRequest>) -> Answer {
    let added = add_item(&request).await;
    answer(&request, added, "image-listed").await
}

pub(crate) async fn remove(request: Arc<PageRequest>) -> Answer {
    let (caller, list) = page_header::named(&request)?;
    let entry: HashEntryId = request.id("entry")?;
    entries::delete(&request.management, &caller, list, entry).await?;
    Ok(page::see_other(format!(
        "{}?done=hash-removed",
        path(&request)?
    )))
}

async fn answer(request: &PageRequest, added: Result<(), Refused>, done: &str) -> Answer {
    match added {
        Ok(()) => Ok(page::see_other(format!("{}?done={done}", path(request)?))),
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

fn path(request: &PageRequest) -> Result<String, PageError> {
    let list: HashListId = request.id("list")?;
    Ok(request.at()?.path(&format!("hash-lists/{list}")))
}

async fn add(request: &PageRequest) -> Result<(), Refused> {
    let (caller, list) = page_header::named(request)?;
    let wrong = |field| move |wrong: MalformedHash| Refused::field(field, wrong.to_string());
    let given = |field| Some(request.form.get(field).trim()).filter(|text| !text.is_empty());
    let sha256 = given("sha256").map(|text| text.parse().map_err(wrong("sha256")));
    let pdq = given("pdq").map(|text| text.parse().map_err(wrong("pdq")));
    let new = NewHash {
        sha256: sha256.transpose()?,
        pdq: pdq.transpose()?,
        note: note(request)?,
    };
    entries::create(&request.management, &caller, list, new).await?;
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
    entries::add_image(&request.management, &caller, list, item, note(request)?).await?;
    Ok(())
}

/// A note that may be empty.
pub(crate) fn note(request: &PageRequest) -> Result<Option<Reason>, Refused> {
    let text = request.form.get("note");
    if text.trim().is_empty() {
        return Ok(None);
    }
    let note = Reason::try_from(text.to_owned());
    note.map(Some)
        .map_err(|wrong| Refused::field("note", wrong.to_string()))
}

async fn page(request: &PageRequest, status: StatusCode, mut problems: Problems) -> Answer {
    let (frame, head, caller) = page_header::of(request).await?;
    let mut found = Found::default();
    let mut status = status;
    if head.is_own {
        match search(request, &caller, head.list.id).await {
            Ok(rows) => found = rows,
            Err(refused) => {
                problems = Problems::of(refused)?;
                status = StatusCode::UNPROCESSABLE_ENTITY;
            }
        }
    }
    let page = Entries {
        frame,
        team: request.at()?,
        tab: "entries",
        head,
        rows: found.rows,
        next: found.next.map(|last| pager::after(request, last)),
        is_cut: found.is_cut,
        hash: request.query.get("hash"),
        how: request.query.get("how"),
        typed: Typed {
            pdq: request.form.get("pdq"),
            sha256: request.form.get("sha256"),
            media: request.form.get("media_id"),
            note: request.form.get("note"),
        },
        problems,
    };
    Ok(page::html(status, &page))
}
