//! How the desk treats the items of a site: when they are due, how long decisions can be undone,
//! which share a second person sees, and how often an item comes whose answer is known.

use domain::{audit::Action, id::SiteId, scope::Scope};
use store::desk_settings;
pub use store::desk_settings::DeskSettings;

use crate::{Caller, Outdated, Refused, Session, boxed, difference, record, sites};

/// The settings for a site.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn get(caller: &Caller, site: SiteId) -> Result<DeskSettings, Refused> {
    let mut session = caller.read(Scope::ReviewsRead).await?;
    session.require_site(site).await?;
    Ok(desk_settings::settings(session.conn(), site).await?)
}

/// Changes the settings for a site: `edit` gets the present ones and returns the new ones. Reviews
/// that are open keep the time when they are due.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
pub async fn update(
    caller: &Caller,
    site: SiteId,
    edit: impl FnOnce(DeskSettings) -> DeskSettings,
) -> Result<DeskSettings, Refused> {
    let (session, before) = locked(caller, site).await?;
    let after = edit(before);
    change(session, site, before, after).await
}

/// The same for a caller who has seen the settings before. If others are in force by now, nothing is
/// changed.
///
/// # Errors
/// As for [`update`].
pub async fn update_seen(
    caller: &Caller,
    site: SiteId,
    is_seen: impl FnOnce(&DeskSettings) -> bool,
    settings: DeskSettings,
) -> Result<Result<DeskSettings, Outdated>, Refused> {
    let (mut session, before) = locked(caller, site).await?;
    if !is_seen(&before) {
        let outdated = session.outdated(Action::DeskUpdate, site.as_uuid(), "");
        return Ok(Err(outdated.await?));
    }
    change(session, site, before, settings).await.map(Ok)
}

/// The settings for a site that nobody else changes until the transaction ends.
async fn locked(caller: &Caller, site: SiteId) -> Result<(Session, DeskSettings), Refused> {
    let mut session = caller.change(Scope::ReviewsManage).await?;
    sites::lock(&mut session, site).await?;
    let before = desk_settings::settings(session.conn(), site).await?;
    Ok((session, before))
}

async fn change(
    mut session: Session,
    site: SiteId,
    before: DeskSettings,
    after: DeskSettings,
) -> Result<DeskSettings, Refused> {
    if let Some(details) = difference(&before, &after) {
        desk_settings::change(session.conn(), site, &after).await?;
        let team = session.require_site(site).await?;
        record(session, Action::DeskUpdate, team, site, details).await?;
    }
    Ok(after)
}
