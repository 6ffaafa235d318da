//! Deliveries of a team, newest first.

use askama::Template;
use domain::{event::EventKind, id::SiteId, webhook::DeliveryStatus};
use management::deliveries::{self, Filter, Listed};

use super::{
    endpoint_name::{self, Names},
    filters::{self, Filters},
};
use crate::page::{self, Answer, Choice, Frame, PageRequest, Problems, pager};

/// Deliveries on a page.
const ROWS: usize = 50;

#[derive(Template)]
#[template(path = "webhooks/deliveries.html")]
struct List {
    frame: Frame,
    sites: Vec<Choice>,
    endpoints: Vec<Choice>,
    states: Vec<Choice>,
    kinds: Vec<Choice>,
    problems: Problems,
    names: Names,
    rows: Vec<Listed>,
    is_filtered: bool,
    next: Option<String>,
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let team = request.team()?;
    let caller = request.caller()?;
    let mut read = Filters::of(&request);
    let site: Option<SiteId> = read.id("site");
    let filter = Filter {
        endpoint: read.id("endpoint"),
        status: read.one_of("state"),
        kind: read.one_of("event"),
        media: read.id("item"),
        since: read.time("since"),
        until: read.time("until"),
    };
    let problems = read.problems;
    // With a mistake in the filter, nothing is listed: it would not be what was asked for.
    let is_wrong = !problems.are_none();
    let limit = if is_wrong { 0 } else { ROWS };
    let after = filters::id(request.query.get("after"));
    let found = deliveries::of_team(&caller, (team, site), &filter, after, limit);
    let (found, labels) = found.await?;
    let query = |field| request.query.get(field).trim();
    let page = List {
        frame: Frame::of(&request, "webhooks").await?,
        sites: filters::sites(&request, site).await?,
        endpoints: endpoint_name::choices(&labels, filter.endpoint),
        states: filters::all(DeliveryStatus::ALL, query("state")),
        kinds: filters::all(EventKind::ALL, query("event")),
        problems,
        names: Names::of(&labels),
        next: found
            .next
            .filter(|_| !is_wrong)
            .map(|last| pager::after(&request, last)),
        rows: found.deliveries,
        is_filtered: filters::any(&request),
    };
    Ok(page::html(page.problems.status(), &page))
}
