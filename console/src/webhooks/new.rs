//! A new endpoint.

use askama::Template;
use domain::id::{EndpointId, SiteId, TeamId};
use management::{
    Refused,
    endpoints::{self, NewEndpoint},
};
use poem::http::StatusCode;

use super::{
    choices::{Choice, sites},
    filters,
    form_values::{Typed, both},
    header_lines,
};
use crate::page::{self, Answer, Area, Frame, PageRequest, Problems};

#[derive(Template)]
#[template(path = "webhooks/new.html")]
struct New<'a> {
    frame: Frame,
    sites: Vec<Choice>,
    typed: Typed,
    headers: &'a str,
    problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    let site = filters::id(request.query.get("site"));
    form(
        &request,
        StatusCode::OK,
        site,
        Typed::empty(),
        Problems::default(),
    )
    .await
}

pub(crate) async fn create(request: PageRequest) -> Answer {
    let team = request.team()?;
    let typed = Typed::sent(&request.form);
    let site = filters::id(request.form.get("site"));
    match endpoint(&request, team, site, &typed).await {
        Ok(endpoint) => {
            let path = Area::Team(team).path("webhooks");
            Ok(page::see_other(format!(
                "{path}/{endpoint}?done=endpoint-created"
            )))
        }
        Err(refused) => {
            let problems = Problems::of(refused)?;
            form(
                &request,
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
    request: &PageRequest,
    team: TeamId,
    site: Option<SiteId>,
    typed: &Typed,
) -> Result<EndpointId, Refused> {
    let caller = request.caller()?;
    let site = site.ok_or_else(|| Refused::field("site", "must be one of your sites"));
    let headers = header_lines::read(request.form.get("headers"));
    let (site, (read, headers)) = both(site, both(typed.read(), headers))?;
    let new = NewEndpoint {
        url: read.url,
        events: Some(read.events),
        description: read.description,
        max_per_second: read.limit,
        headers,
    };
    let created = endpoints::create(&request.management, &caller, site, new).await?;
    Ok(created.id)
}

async fn form(
    request: &PageRequest,
    site: Option<SiteId>,
    typed: Typed,
    problems: Problems,
) -> Answer {
    let team = request.team()?;
    let frame = Frame::of(request, "webhooks").await?;
    let page = New {
        frame,
        sites: sites(request, team, site).await?,
        typed,
        headers: request.form.get("headers"),
        problems,
    };
    Ok(page::html(page.problems.status(), &page))
}
