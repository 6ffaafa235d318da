//! The sites of a team.

use std::sync::Arc;

use askama::Template;
use domain::id::TeamId;
use management::sites::{self, ManagedSite, Page};

use crate::{
    page::{self, Frame},
    router::Answer,
    visit::Visit,
};

#[derive(Template)]
#[template(path = "sites.html")]
struct Sites {
    frame: Frame,
    sites: Vec<ManagedSite>,
}

pub(crate) async fn list(visit: Arc<Visit>) -> Answer {
    let team: TeamId = visit.id("team")?;
    let caller = visit.caller(Some(team))?;
    let sites = sites::list(
        &visit.management,
        &caller,
        Page {
            after: None,
            limit: 100,
        },
    )
    .await?;
    Ok(page::shown(&Sites {
        frame: Frame::of(&visit, Some(team), "sites").await?,
        sites,
    }))
}
