//! The sites of a team.

pub(crate) mod new;

use std::sync::Arc;

use askama::Template;
use management::sites::{self, ManagedSite};

use crate::{
    page::{self, At, Frame, pager},
    router::Answer,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "sites.html")]
struct List {
    frame: Frame,
    team: At,
    sites: Vec<ManagedSite>,
    /// The address of the next page.
    next: Option<String>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Answer {
    let team = visit.team()?;
    let caller = visit.caller(Some(team))?;
    let sites = sites::list(&visit.management, &caller, pager::asked(&visit)).await?;
    Ok(page::shown(&List {
        frame: Frame::of(&visit, At::Team(team), "sites").await?,
        team: At::Team(team),
        next: pager::next(&visit, &sites, |site| site.id),
        sites,
    }))
}
