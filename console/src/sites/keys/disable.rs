//! Disabling a key, after its last characters were typed.

use std::sync::Arc;

use askama::Template;
use domain::{id::SiteKeyId, scope::Scope};
use management::site_keys;
use poem::{Response, http::StatusCode};

use crate::{
    page::{self, Frame},
    problems::Problems,
    router::Answer,
    sites::page_header::{SiteHeader, Tab},
    time::Moment,
    error_page::PageError,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "sites/keys/disable.html")]
struct Disable {
    frame: Frame,
    here: SiteHeader,
    hint: String,
    created: Moment,
    used: Option<Moment>,
    disabled: Option<Moment>,
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    page(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn disable(visit: Arc<PageRequest>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let (site, key): (_, SiteKeyId) = (visit.id("site")?, visit.id("key")?);
    let found = site_keys::get(&visit.management, &caller, site, key).await?;
    if visit.form.get("typed") != found.hint {
        let mut problems = Problems::default();
        problems.add("typed", "must be the last characters of the key");
        return page(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await;
    }
    site_keys::disable(&visit.management, &caller, site, key).await?;
    let team = page::Area::Team(visit.team()?);
    let keys = format!("{}/{site}/keys?done=key-disabled", team.path("sites"));
    Ok(page::see_other(keys))
}

async fn page(visit: &PageRequest, status: StatusCode, problems: Problems) -> Result<Response, PageError> {
    let (frame, here) = SiteHeader::of(visit, Tab::Keys).await?;
    let frame = frame.require(Scope::KeysWrite)?;
    let caller = visit.caller(Some(visit.team()?))?;
    let (management, site) = (&visit.management, here.site.id);
    let key = site_keys::get(management, &caller, site, visit.id("key")?).await?;
    let keys = std::slice::from_ref(&key);
    let used = site_keys::last_used(management, &caller, site, keys).await?;
    let page = Disable {
        frame,
        here,
        created: key.created_at.into(),
        used: used.first().map(|(_, used)| Moment::from(*used)),
        disabled: key.disabled_at.map(Moment::from),
        hint: key.hint,
        problems,
    };
    Ok(page::html(status, &page))
}
