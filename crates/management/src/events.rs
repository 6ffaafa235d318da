//! Events: what happened to a site's items, and which endpoints were subscribed.

use domain::{
    id::{EventId, SiteId, TeamId},
    scope::Scope,
};
pub use store::event::{Filter, Listed, Page, Told};
use store::{
    endpoint::{Label, labels},
    event,
};

use crate::{Caller, Refused, boxed, deliveries};

/// At most `limit` events of a site that are older than `after`, the newest first.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn list(
    caller: &Caller,
    site: SiteId,
    filter: &Filter,
    after: Option<EventId>,
    limit: usize,
) -> Result<Page, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    session.require_site(site).await?;
    Ok(event::list(session.conn(), &[site], filter, after, limit).await?)
}

/// At most `limit` events of a team, or of one of its sites, that are older than `after`, the
/// newest first, and the endpoints of these sites.
///
/// # Errors
/// The caller may not do it; the team or the site is not within reach.
#[boxed]
pub async fn of_team(
    caller: &Caller,
    (team, site): (TeamId, Option<SiteId>),
    filter: &Filter,
    after: Option<EventId>,
    limit: usize,
) -> Result<(Page, Vec<Label>), Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    let sites = deliveries::sites_of(&mut session, team, site).await?;
    let conn = session.conn();
    let page = event::list(conn, &sites, filter, after, limit).await?;
    let labels = labels(conn, &sites).await?;
    Ok((page, labels))
}
