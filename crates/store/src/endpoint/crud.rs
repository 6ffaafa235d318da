//! Endpoints as their owners create, read, change and delete them.

mod by_team;
mod delete;
mod enabling;
mod read;
mod row;
mod write;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{EndpointId, SiteId, TeamId},
    webhook::{CustomHeader, Health},
};

pub use self::{
    by_team::{Placed, failing, of_team},
    delete::delete,
    enabling::{disable, enable, retry_now},
    read::{find, list, lock},
    write::{add, change},
};

/// What an owner decides about an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where it is.
    pub url: String,
    /// The kinds of event that it wants.
    pub events: Vec<EventKind>,
    /// What it is for.
    pub description: Option<String>,
    /// Its limit of requests per second. `None` means no limit.
    pub max_per_second: Option<i32>,
    /// What goes with every request.
    pub headers: Vec<CustomHeader>,
}

/// An endpoint that was not deleted.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The endpoint.
    pub id: EndpointId,
    /// Its site.
    pub site: SiteId,
    /// Its site's team.
    pub team: TeamId,
    /// What its owner decided.
    pub settings: Settings,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was disabled, if it is.
    pub disabled_at: Option<DateTime<Utc>>,
    /// Why.
    pub disabled_reason: Option<String>,
    /// Its delivery health.
    pub health: Health,
    /// When all of this was read, by Postgres's clock.
    pub at: DateTime<Utc>,
    /// How many of its last 1,000 deliveries have not ended.
    pub waiting: i64,
}
