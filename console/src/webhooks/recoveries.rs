//! The recoveries of an endpoint.

use std::sync::Arc;

use askama::Template;
use domain::id::EndpointId;
use management::{endpoints, recoveries};

use super::{endpoint_name, recovery::Recovered};
use crate::{
    page::{self, Area, Frame, pager},
    router::Answer,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "webhooks/recoveries.html")]
struct List {
    frame: Frame,
    team: Area,
    /// The path of the endpoint's page.
    path: String,
    name: String,
    recoveries: Vec<Recovered>,
    next: Option<String>,
}

pub(crate) async fn list(visit: Arc<PageRequest>) -> Answer {
    let (team, id) = (visit.team()?, visit.id::<EndpointId>("endpoint")?);
    let caller = visit.caller(Some(team))?;
    let endpoint = endpoints::get(&visit.management, &caller, id).await?;
    let page = pager::asked(&visit);
    let found = recoveries::list(&visit.management, &caller, id, page).await?;
    let settings = endpoint.settings;
    Ok(page::shown(&List {
        frame: Frame::of(&visit, Area::Team(team), "webhooks").await?,
        team: Area::Team(team),
        path: super::endpoint::path(&visit)?,
        name: endpoint_name::name(settings.description.as_deref(), &settings.url),
        next: pager::next(&visit, &found, |one| one.id),
        recoveries: found.into_iter().map(Recovered::from).collect(),
    }))
}
