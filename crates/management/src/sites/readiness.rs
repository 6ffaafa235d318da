//! What sites have of all that they need for work.

use domain::{id::SiteId, scope::Scope};
pub use store::site::readiness::{Counts, Readiness};

use crate::{Caller, Management, Noun, Refused};

/// Counts the keys and endpoints of these sites, as far as they are within the caller's reach.
///
/// # Errors
/// The caller may not do it.
pub async fn counts(
    management: &Management,
    caller: &Caller,
    sites: &[SiteId],
) -> Result<Vec<Counts>, Refused> {
    let mut session = management.read(caller, Scope::SitesRead).await?;
    session.require(Scope::KeysRead)?;
    session.require(Scope::WebhooksRead)?;
    let reach = session.reach();
    Ok(store::site::readiness::counts(session.conn(), reach, sites).await?)
}

/// Whether a site was tried and has rules.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
pub async fn readiness(
    management: &Management,
    caller: &Caller,
    site: SiteId,
) -> Result<Readiness, Refused> {
    let mut session = management.read(caller, Scope::SitesRead).await?;
    session.require(Scope::WebhooksRead)?;
    session.require(Scope::RulesRead)?;
    let reach = session.reach();
    let readiness = store::site::readiness::readiness(session.conn(), reach, site).await?;
    readiness.ok_or(Refused::NotFound(Noun::Site))
}
