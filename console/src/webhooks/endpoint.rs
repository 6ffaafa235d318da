//! An endpoint: its delivery health and the cause, what was sent to it, and what can be done about it.

use askama::Template;
use domain::{
    id::{EndpointId, SiteId},
    webhook::CustomHeader,
};
use management::{
    deliveries::{self, Filter},
    endpoints::{self, Endpoint},
    recoveries, sites,
};
use poem::http::StatusCode;

use super::{
    attempt::Shown,
    delivery_row::Delivery,
    endpoint_name,
    health::Health,
    recoveries::Recovered,
    recovery_form::{Asked, Wanted},
};
use crate::{
    page::{self, Answer, Area, Frame, PageError, PageRequest, Problems, pager},
    time::Moment,
};

/// Attempts that are shown.
const ATTEMPTS: i64 = 5;
/// Deliveries that are shown.
const DELIVERIES: usize = 10;
/// Recoveries that are shown.
const RECOVERIES: i64 = 3;

#[derive(Template)]
#[template(path = "webhooks/endpoint.html")]
struct Page {
    frame: Frame,
    /// The path of this page.
    path: String,
    one: Facts,
    site_name: String,
    health: Health,
    attempts: Vec<Shown>,
    deliveries: Vec<Delivery>,
    recoveries: Vec<Recovered>,
    recover: Asked,
    said: Said,
}

/// The settings of the endpoint.
struct Facts {
    id: EndpointId,
    site: SiteId,
    name: String,
    url: String,
    events: String,
    limit: Option<i32>,
    headers: Vec<String>,
    created: Moment,
}

impl From<Endpoint> for Facts {
    fn from(endpoint: Endpoint) -> Self {
        let settings = endpoint.settings;
        let events: Vec<&str> = settings.events.iter().map(|kind| kind.as_str()).collect();
        let names = settings.headers.iter().map(CustomHeader::name);
        Self {
            id: endpoint.id,
            site: endpoint.site,
            name: endpoint_name::name(settings.description.as_deref(), &settings.url),
            url: settings.url,
            events: events.join(", "),
            limit: settings.max_per_second,
            headers: names.map(str::to_owned).collect(),
            created: endpoint.created_at.into(),
        }
    }
}

/// What the page says beyond the endpoint itself: the answer to what was just asked for.
#[derive(Default)]
pub(super) struct Said {
    /// The result of a test.
    pub(super) pinged: Option<Shown>,
    /// The recovery that was asked for and refused.
    pub(super) wanted: Option<Wanted>,
    /// The reason that was typed.
    pub(super) reason: String,
    pub(super) problems: Problems,
}

pub(crate) async fn show(request: PageRequest) -> Answer {
    page(&request, StatusCode::OK, Said::default()).await
}

/// The path of an endpoint's page.
pub(super) fn path(request: &PageRequest) -> Result<String, PageError> {
    let (team, endpoint) = (request.team()?, request.id::<EndpointId>("endpoint")?);
    Ok(Area::Team(team).path(&format!("webhooks/{endpoint}")))
}

/// The page of the endpoint in the path.
pub(super) async fn page(request: &PageRequest, status: StatusCode, said: Said) -> Answer {
    let (team, id) = (request.team()?, request.id("endpoint")?);
    let management = &request.management;
    let caller = request.caller()?;
    let endpoint = endpoints::get(management, &caller, id).await?;
    let site = sites::get(management, &caller, endpoint.site).await?;
    let latest = endpoints::latest(management, &caller, id, ATTEMPTS).await?;
    let filter = Filter {
        endpoint: Some(id),
        ..Filter::default()
    };
    let listed = deliveries::list(
        management,
        &caller,
        endpoint.site,
        &filter,
        None,
        DELIVERIES,
    )
    .await?;
    let first = pager::first(RECOVERIES);
    let recovered = recoveries::list(management, &caller, id, first).await?;
    let recover = match said.wanted {
        Some(ref wanted) => Asked::again(wanted),
        None => Asked::suggested(&endpoint, site.settings.webhook_retention_days.get()),
    };
    let frame = Frame::of(request, "webhooks").await?;
    if !said.problems.are_none() {
        }
    let page = Page {
        frame,
        path: path(request)?,
        health: Health::of(&endpoint),
        attempts: latest.into_iter().map(Shown::from).collect(),
        deliveries: listed.deliveries.into_iter().map(Delivery::from).collect(),
        recoveries: recovered.into_iter().map(Recovered::from).collect(),
        recover,
        site_name: site.settings.name,
        said,
        one: endpoint.into(),
    };
    Ok(page::html(page.problems.status(), &page))
}
