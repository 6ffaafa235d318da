//! Replacing the keys of a site: with a second key while the old ones keep working, or all at once after the site's name was
//! typed.

use std::sync::Arc;

use askama::Template;
use domain::scope::Scope;
use management::{
    site_keys,
    sites::{self, Page},
};
use poem::{Response, http::StatusCode};

use super::{Row, rows, show_once};
use crate::{
    error_page::PageError,
    page::{self, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    sites::page_header::{SiteHeader, Tab},
};

/// Keys that are looked through for those that work. A site rarely has as many.
const KEYS: i64 = 200;

#[derive(Template)]
#[template(path = "sites/keys/rotate.html")]
struct Rotate {
    frame: Frame,
    here: SiteHeader,
    /// How many keys work.
    keys: i64,
    /// The first of them.
    rows: Vec<Row>,
    problems: Problems,
}

impl Rotate {
    /// Whether more keys work than are listed.
    fn has_more(&self) -> bool {
        i64::try_from(self.rows.len()).is_ok_and(|listed| listed < self.keys)
    }
}

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn rotate(request: Arc<PageRequest>) -> Answer {
    let caller = request.caller(Some(request.team()?))?;
    let site = sites::get(&request.management, &caller, request.id("site")?).await?;
    if request.form.get("how") == "keep" {
        return match site_keys::create(&request.management, &caller, site.id).await {
            Ok(issued) => show_once(&request, &issued, false).await,
            Err(refused) => {
                let problems = Problems::of(refused)?;
                page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
            }
        };
    }
    let mut problems = Problems::default();
    if request.form.get("typed") == site.settings.name {
        match site_keys::rotate(&request.management, &caller, site.id).await {
            Ok(issued) => return show_once(&request, &issued, true).await,
            Err(refused) => problems = Problems::of(refused)?,
        }
    } else {
        problems.add("typed", "must be the name of the site");
    }
    page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await
}

async fn page(
    request: &PageRequest,
    status: StatusCode,
    problems: Problems,
) -> Result<Response, PageError> {
    let (frame, here) = SiteHeader::of(request, Tab::Keys).await?;
    let frame = frame.require(Scope::KeysWrite)?;
    let caller = request.caller(Some(request.team()?))?;
    let counts = sites::counts(&request.management, &caller, &[here.site.id]).await?;
    let first = Page {
        after: None,
        limit: KEYS,
    };
    let (mut rows, _) = rows(request, &caller, here.site.id, first).await?;
    rows.retain(|row| row.disabled.is_none());
    let page = Rotate {
        rows,
        frame,
        here,
        keys: counts.first().map_or(0, |counts| counts.keys),
        problems,
    };
    Ok(page::html(status, &page))
}
