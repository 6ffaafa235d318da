//! The keys of a site, with which applications submit: the list, replacing them, and disabling one after its last characters were
//! typed.

use std::collections::HashMap;

use askama::Template;
use chrono::{DateTime, Utc};
use domain::id::{SiteId, SiteKeyId};
use management::{
    Caller,
    site_keys::{self, IssuedKey, KeyRecord},
    sites::{self, Page},
};

use super::page_header::{SiteHeader, Tab};
use crate::page::{self, Answer, Frame, PageError, PageRequest, Problems, pager};

#[derive(Template)]
#[template(path = "sites/keys.html")]
struct List {
    frame: Frame,
    here: SiteHeader,
    rows: Vec<Row>,
    next: Option<String>,
    problems: Problems,
}

struct Row {
    key: KeyRecord,
    /// The minute in which it was last used.
    used: Option<DateTime<Utc>>,
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

pub(crate) async fn list(request: PageRequest) -> Answer {
    page(&request, Problems::default()).await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    match site_keys::create(&caller, request.id("site")?).await {
        Ok(issued) => show_once(&request, &issued, false).await,
        Err(refused) => page(&request, Problems::of(refused)?).await,
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

async fn page(request: &PageRequest, problems: Problems) -> Answer {
    let (frame, here) = SiteHeader::of(request, Tab::Keys).await?;
    let caller = request.caller()?;
    let asked = pager::asked(request);
    let (mut rows, next) = rows(request, &caller, here.site.id, asked).await?;
    // Keys that work come first.
    rows.sort_by_key(|row| row.key.disabled_at.is_some());
    let page = List {
        frame,
        here,
        rows,
        next,
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

/// Keys of a site, and the address of the next page.
async fn rows(
    request: &PageRequest,
    caller: &Caller,
    site: SiteId,
    asked: Page,
) -> Result<(Vec<Row>, Option<String>), PageError> {
    let keys = site_keys::list(caller, site, asked).await?;
    let used = site_keys::last_used(caller, site, &keys).await?;
    let used: HashMap<_, _> = used.into_iter().collect();
    let next = pager::next(request, &keys, |key| key.id);
    let row = |key: KeyRecord| Row {
        used: used.get(&key.id).copied(),
        key,
    };
    Ok((keys.into_iter().map(row).collect(), next))
}

/// Keys that are looked through for those that work. A site rarely has as many.
const KEYS: i64 = 200;

#[derive(Template)]
#[template(path = "sites/keys/rotate.html")]
struct Rotate {
    frame: Frame,
    here: SiteHeader,
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

pub(crate) async fn show_rotation(request: PageRequest) -> Answer {
    rotation(&request, Problems::default()).await
}

pub(crate) async fn rotate(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let site = sites::get(&caller, request.id("site")?).await?;
    if request.form.get("how") == "keep" {
        return match site_keys::create(&caller, site.id).await {
            Ok(issued) => show_once(&request, &issued, false).await,
            Err(refused) => rotation(&request, Problems::of(refused)?).await,
        };
    }
    let mut problems = Problems::default();
    if request.form.get("typed") == site.settings.name {
        match site_keys::rotate(&caller, site.id).await {
            Ok(issued) => return show_once(&request, &issued, true).await,
            Err(refused) => problems = Problems::of(refused)?,
        }
    } else {
        problems.add("typed", "must be the name of the site");
    }
    rotation(&request, problems).await
}

async fn rotation(request: &PageRequest, problems: Problems) -> Answer {
    let (frame, here) = SiteHeader::of(request, Tab::Keys).await?;
    let caller = request.caller()?;
    let counts = sites::counts(&caller, &[here.site.id]).await?;
    let all = pager::first(KEYS);
    let (mut rows, _) = rows(request, &caller, here.site.id, all).await?;
    rows.retain(|row| row.key.disabled_at.is_none());
    let page = Rotate {
        rows,
        frame,
        here,
        keys: counts.first().map_or(0, |counts| counts.keys),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}

#[derive(Template)]
#[template(path = "sites/keys/disable.html")]
struct Disable {
    frame: Frame,
    here: SiteHeader,
    key: KeyRecord,
    used: Option<DateTime<Utc>>,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    key(&request, Problems::default()).await
}

pub(crate) async fn disable(request: PageRequest) -> Answer {
    let caller = request.caller()?;
    let (site, key): (_, SiteKeyId) = (request.id("site")?, request.id("key")?);
    let found = site_keys::get(&caller, site, key).await?;
    if request.form.get("typed") != found.hint {
        let problems = Problems::field("typed", "must be the last characters of the key");
        return self::key(&request, problems).await;
    }
    site_keys::disable(&caller, site, key).await?;
    request.lead_to(format!("sites/{site}/keys?done=key-disabled"))
}

async fn key(request: &PageRequest, problems: Problems) -> Answer {
    let (frame, here) = SiteHeader::of(request, Tab::Keys).await?;
    let caller = request.caller()?;
    let site = here.site.id;
    let key = site_keys::get(&caller, site, request.id("key")?).await?;
    let keys = std::slice::from_ref(&key);
    let used = site_keys::last_used(&caller, site, keys).await?;
    let page = Disable {
        frame,
        here,
        key,
        used: used.first().map(|(_, used)| *used),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
