//! The delivery health of a team's endpoints: all of them, those that fail first, and the latest attempts.

use std::collections::HashMap;

use domain::{
    id::{EndpointId, SiteId, TeamId},
    scope::Scope,
};
use store::{
    delivery::{self, Latest},
    endpoint::crud::{self, Endpoint},
    page::Page,
};

use super::find;
use crate::{Caller, Management, Refused, deliveries};

/// An endpoint in the list of its team's endpoints.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The endpoint.
    pub endpoint: Endpoint,
    /// The name of its site.
    pub site_name: String,
    /// The latest attempt to send something to it, if there is one among its latest deliveries.
    pub last: Option<Latest>,
}

/// The endpoints of a team, or of one of its sites: those that fail first, then those that are
/// disabled, then the others, the oldest first.
///
/// # Errors
/// The caller may not do it; the team or the site is not within reach.
pub async fn of_team(
    management: &Management,
    caller: &Caller,
    (team, site): (TeamId, Option<SiteId>),
    page: Page,
) -> Result<Vec<Overview>, Refused> {
    let mut session = management.read(caller, Scope::WebhooksRead).await?;
    deliveries::sites_of(&mut session, team, site).await?;
    let (conn, key) = (session.conn(), management.master_key.as_ref());
    let found = crud::of_team(conn, key, team, site, page).await?;
    let endpoints = found.iter().map(|placed| failing(&placed.endpoint));
    let endpoints: Vec<_> = endpoints.collect();
    let last = delivery::latest(conn, &endpoints, 1).await?;
    let mut last: HashMap<EndpointId, Latest> =
        last.into_iter().map(|one| (one.endpoint, one)).collect();
    let overviews = found.into_iter().map(|placed| Overview {
        last: last.remove(&placed.endpoint.id),
        endpoint: placed.endpoint,
        site_name: placed.site_name,
    });
    Ok(overviews.collect())
}

/// The endpoints of a team, or of one of its sites, whose last attempt failed: at most `limit`, and how many there are in
/// all. Those that were disabled come last; after a week they are left out.
///
/// # Errors
/// The caller may not do it; the team is not within reach.
pub async fn failing_of_team(
    management: &Management,
    caller: &Caller,
    (team, site): (TeamId, Option<SiteId>),
    limit: i64,
) -> Result<(Vec<Endpoint>, i64), Refused> {
    let mut session = management.read(caller, Scope::WebhooksRead).await?;
    session.require_team(team)?;
    let key = management.master_key.as_ref();
    Ok(crud::failing(session.conn(), key, team, site, limit).await?)
}

/// The latest attempts to send something to an endpoint, each of another delivery, the latest
/// first.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
pub async fn latest(
    management: &Management,
    caller: &Caller,
    endpoint: EndpointId,
    limit: i64,
) -> Result<Vec<Latest>, Refused> {
    let mut session = management.read(caller, Scope::WebhooksRead).await?;
    let endpoint = find(management, &mut session, endpoint).await?;
    Ok(delivery::latest(session.conn(), &[failing(&endpoint)], limit).await?)
}

/// Since when it fails, if it does.
fn failing(endpoint: &Endpoint) -> (EndpointId, Option<chrono::DateTime<chrono::Utc>>) {
    (endpoint.id, endpoint.health.failing_since)
}
