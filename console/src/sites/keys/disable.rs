//! Disabling a key, after its last characters were typed.

use std::sync::Arc;

use askama::Template;
use domain::{id::SiteKeyId, scope::Scope};
use management::site_keys;
use poem::{Response, http::StatusCode};

use crate::{
    error_page::PageError,
    page::{self, Frame},
    problems::Problems,
    request::PageRequest,
    router::Answer,
    sites::page_header::{SiteHeader, Tab},
    time::Moment,
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

pub(crate) async fn show(request: Arc<PageRequest>) -> Answer {
    page(&request, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn disable(request: Arc<PageRequest>) -> Answer {
    let caller = request.caller(Some(request.team()?))?;
    let (site, key): (_, SiteKeyId) = (request.id("site")?, request.id("key")?);
    let found = site_keys::get(&request.management, &caller, site, key).await?;
    if request.form.get("typed") != found.hint {
        let mut problems = Problems::default();
        problems.add("typed", "must be the last characters of the key");
        return page(&request, StatusCode::UNPROCESSABLE_ENTITY, problems).await;
    }
    site_keys::disable(&request.management, &caller, site, key).await?;
    let team = page::Area::Team(request.team()?);
    let keys = format!("{}/{site}/keys?done=key-disabled", team.path("sites"));
    Ok(page::see_other(keys))
}

async fn page(
    request: &PageRequest,
    status: StatusCode,
    problems: Problems,
) -> Result<Response, PageError> {
    let (frame, here) = SiteHeader::of(request, Tab::Keys).await?;
    let frame = frame.require(Scope::KeysWrite)?;
    let caller = request.caller(Some(request.team()?))?;
    let (management, site) = (&request.management, here.site.id);
    let key = site_keys::get(management, &caller, site, request.id("key")?).await?;
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
