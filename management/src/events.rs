//! Events: what happened to a site's items, and which endpoints were subscribed.

use domain::{
    id::{EventId, SiteId},
    scope::Scope,
};
use store::event::{self, Filter, Page};

use crate::{Caller, Management, Refused, sites};

/// At most `limit` events of a site that are older than `after`, the newest first.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
pub async fn list(
    management: &Management,
    caller: &Caller,
    site: SiteId,
    filter: &Filter,
    after: Option<EventId>,
    limit: usize,
) -> Result<Page, Refused> {
    let mut session = management.read(caller, Scope::WebhooksRead).await?;
    sites::require(&mut session, site).await?;
    Ok(event::list(session.conn(), site, filter, after, limit).await?)
}
