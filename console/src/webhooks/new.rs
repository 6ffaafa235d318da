//! A new endpoint.

use std::sync::Arc;

use askama::Template;
use domain::id::{EndpointId, SiteId, TeamId};
use management::{
    Refused,
    endpoints::{self, NewEndpoint},
};
use poem::http::StatusCode;

use super::{
    choices::{Choice, sites},
    filters, header_lines,
    form_values::{Typed, both},
};
use crate::{
    page::{self, Area, Frame},
    problems::Problems,
    router::Answer,
    request::PageRequest,
};

#[derive(Template)]
#[template(path = "webhooks/new.html")]
struct New<'a> {
    frame: Frame,
    team: Area,
    sites: Vec<Choice>,
    typed: Typed,
    headers: &'a str,
    problems: Problems,
}

pub(crate) async fn show(visit: Arc<PageRequest>) -> Answer {
    let site = filters::id(visit.query.get("site"));
    form(
        &visit,
        StatusCode::OK,
        site,
        Typed::empty(),
        Problems::default(),
    )
    .await
}

pub(crate) async fn create(visit: Arc<PageRequest>) -> Answer {
    let team = visit.team()?;
    let typed = Typed::sent(&visit.form);
    let site = filters::id(visit.form.get("site"));
    match endpoint(&visit, team, site, &typed).await {
        Ok(endpoint) => {
            let path = Area::Team(team).path("webhooks");
            Ok(page::see_other(format!(
                "{path}/{endpoint}?done=endpoint-created"
            )))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(
                &visit,
                StatusCode::UNPROCESSABLE_ENTITY,
                site,
                typed,
                problems,
            )
            .await
        }
    }
}

async fn endpoint(
    visit: &PageRequest,
    team: TeamId,
    site: Option<SiteId>,
    typed: &Typed,
) -> Result<EndpointId, Refused> {
    let caller = visit.caller(Some(team))?;
    let site = site.ok_or_else(|| Refused::field("site", "must be one of your sites"));
    let headers = header_lines::read(visit.form.get("headers"));
    let (site, (read, headers)) = both(site, both(typed.read(), headers))?;
    let new = NewEndpoint {
        url: read.url,
        events: Some(read.events),
        description: read.description,
        max_per_second: read.limit,
        headers,
    };
    let created = endpoints::create(&visit.management, &caller, site, new).await?;
    Ok(created.id)
}

async fn form(
    visit: &PageRequest,
    status: StatusCode,
    site: Option<SiteId>,
    typed: Typed,
    problems: Problems,
) -> Answer {
    let team = visit.team()?;
    let frame = Frame::of(visit, Area::Team(team), "webhooks").await?;
    super::require(&frame)?;
    let page = New {
        frame,
        team: Area::Team(team),
        sites: sites(visit, team, site).await?,
        typed,
        headers: visit.form.get("headers"),
        problems,
    };
    Ok(page::html(status, &page))
}
