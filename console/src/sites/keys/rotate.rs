//! Replacing all keys of a site at once, after the site's name was typed.

use std::sync::Arc;

use askama::Template;
use domain::scope::Scope;
use management::{site_keys, sites};
use poem::{Response, http::StatusCode};

use super::show_once;
use crate::{
    page::{self, Frame},
    problems::Problems,
    router::Answer,
    sites::here::{Here, Tab},
    trouble::Trouble,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "sites/keys/rotate.html")]
struct Rotate {
    frame: Frame,
    here: Here,
    /// How many keys would stop working.
    keys: i64,
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<Visit>) -> Answer {
    page(&visit, StatusCode::OK, Problems::default()).await
}

pub(crate) async fn rotate(visit: Arc<Visit>) -> Answer {
    let caller = visit.caller(Some(visit.team()?))?;
    let site = sites::get(&visit.management, &caller, visit.id("site")?).await?;
    let mut problems = Problems::default();
    if visit.form.get("typed") == site.settings.name {
        match site_keys::rotate(&visit.management, &caller, site.id).await {
            Ok(issued) => return show_once(&visit, &issued, true).await,
            Err(refused) => problems = Problems::of(refused)?,
        }
    } else {
        problems.add("typed", "must be the name of the site");
    }
    page(&visit, StatusCode::UNPROCESSABLE_ENTITY, problems).await
}

async fn page(visit: &Visit, status: StatusCode, problems: Problems) -> Result<Response, Trouble> {
    let (frame, here) = Here::of(visit, Tab::Keys).await?;
    let frame = frame.require(Scope::KeysWrite)?;
    let caller = visit.caller(Some(visit.team()?))?;
    let counts = sites::counts(&visit.management, &caller, &[here.site.id]).await?;
    let page = Rotate {
        frame,
        here,
        keys: counts.first().map_or(0, |counts| counts.keys),
        problems,
    };
    Ok(page::html(status, &page))
}
