//! Webhooks: the endpoints of a team, those that fail first.

mod attempt;
pub(crate) mod deliveries;
pub(crate) mod delivery;
pub(crate) mod endpoint;
mod endpoint_name;
pub(crate) mod events;
mod filters;
mod form_values;
mod health;
pub(crate) mod recoveries;
pub(crate) mod settings;

use askama::Template;
use domain::id::{EndpointId, SiteId};
use management::endpoints::{self, Overview};

use self::{attempt::Shown, filters::sites, health::Health};
use crate::page::{self, Answer, Choice, Frame, PageRequest, pager};

#[derive(Template)]
#[template(path = "webhooks.html")]
struct List {
    frame: Frame,
    /// The sites that can be chosen, and whether there are more.
    sites: Vec<Choice>,
    rows: Vec<Row>,
    failing: usize,
    is_filtered: bool,
    next: Option<String>,
}

struct Row {
    id: EndpointId,
    name: String,
    url: String,
    site: String,
    health: Health,
    last: Option<Shown>,
    limit: Option<i32>,
}

impl From<Overview> for Row {
    fn from(overview: Overview) -> Self {
        let endpoint = overview.endpoint;
        let health = Health::of(&endpoint);
        let settings = endpoint.settings;
        Self {
            id: endpoint.id,
            name: endpoint_name::name(settings.description.as_deref(), &settings.url),
            url: settings.url,
            site: overview.site_name,
            health,
            last: overview.last.map(Shown::from),
            limit: settings.max_per_second,
        }
    }
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let team = request.team()?;
    let caller = request.caller()?;
    let site: Option<SiteId> = filters::id(request.query.get("site"));
    let page = pager::asked(&request);
    let found = endpoints::of_team(&caller, (team, site), page).await?;
    let next = pager::next(&request, &found, |one| one.endpoint.id);
    let rows: Vec<Row> = found.into_iter().map(Row::from).collect();
    Ok(page::shown(&List {
        frame: Frame::of(&request, "webhooks").await?,
        sites: sites(&request, site).await?,
        failing: rows.iter().filter(|row| row.health.is_failing).count(),
        is_filtered: site.is_some(),
        rows,
        next,
    }))
}
