//! The keys of a site: with which applications submit.

pub(crate) mod disable;
pub(crate) mod rotate;

use std::{collections::HashMap, sync::Arc};

use askama::Template;
use domain::id::{SiteId, SiteKeyId};
use management::{
    Caller,
    site_keys::{self, IssuedKey, KeyRecord},
    sites::Page,
};
use poem::{Response, http::StatusCode};

use super::page_header::{SiteHeader, Tab};
use crate::{
    error_page::PageError,
    page::{self, Frame, pager},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    time::Moment,
};

#[derive(Template)]
#[template(path = "sites/keys.html")]
struct List {
    frame: Frame,
    here: SiteHeader,
    rows: Vec<Row>,
    next: Option<String>,
    problems: Problems,
}

/// A key.
struct Row {
    id: SiteKeyId,
    hint: String,
    created: Moment,
    /// The minute in which it was last used.
    used: Option<Moment>,
    disabled: Option<Moment>,
}

/// A key that was just created, shown once.
#[derive(Template)]
#[template(path = "sites/keys/issued.html")]
struct Issued {
    frame: Frame,
    here: SiteHeader,
    secret: String,
    /// Whether all other keys stopped working.
    has_replaced: bool,
}

pub(crate) async fn list(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn create(request: Arc<PageRequest>) -> Answer {
    let caller = request.caller(Some(request.team()?))?;
    match site_keys::create(&request.management, &caller, request.id("site")?).await {
        Ok(issued) => show_once(&request, &issued, false).await,
        Err(refused) => {
            let problems = Problems::of(refused)?;
            page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
        }
    }
}

/// The secret is shown once, so this page is the answer itself and has no address.
async fn show_once(request: &PageRequest, issued: &IssuedKey, has_replaced: bool) -> Answer {
    let (frame, here) = SiteHeader::of(request, Tab::Keys).await?;
    Ok(page::shown(&Issued {
        frame,
        here,
        secret: issued.secret.expose().to_owned(),
        has_replaced,
    }))
}

async fn page(
    request: &PageRequest,
    status: StatusCode,
    problems: Problems,
) -> Result<Response, PageError> {
    let (frame, here) = SiteHeader::of(request, Tab::Keys).await?;
    let caller = request.caller(Some(request.team()?))?;
    let asked = pager::asked(request);
    let (mut rows, next) = rows(request, &caller, here.site.id, asked).await?;
    // Keys that work come first.
    rows.sort_by_key(|row| row.disabled.is_some());
    let page = List {
        frame,
        here,
        rows,
        next,
        problems,
    };
    Ok(page::html(status, &page))
}

/// Keys of a site, and the address of the next page.
async fn rows(
    request: &PageRequest,
    caller: &Caller,
    site: SiteId,
    asked: Page,
) -> Result<(Vec<Row>, Option<String>), PageError> {
    let management = &request.management;
    let keys = site_keys::list(management, caller, site, asked).await?;
    let used = site_keys::last_used(management, caller, site, &keys).await?;
    let used: HashMap<_, _> = used.into_iter().collect();
    let next = pager::next(request, &keys, |key| key.id);
    let row = |key: KeyRecord| Row {
        id: key.id,
        hint: key.hint,
        created: key.created_at.into(),
        used: used.get(&key.id).copied().map(Moment::from),
        disabled: key.disabled_at.map(Moment::from),
    };
    Ok((keys.into_iter().map(row).collect(), next))
}
