//! Webhook endpoints: list, create, read, change, disable, enable, retry, delete, test.

mod audit_entry;
mod enable;
mod health;
mod ping;
mod settings;

use domain::{
    audit::Action,
    id::{EndpointId, SiteId, TeamId},
    scope::Scope,
};
use serde_json::Value;
pub use store::endpoint::crud::Endpoint;
use store::{
    encryption::{self, MasterKey},
    endpoint::crud,
    jobs,
    page::Page,
};

use crate::{Caller, Change, Management, Noun, Outdated, Refused, Session, sites};

pub use self::{
    ping::ping,
    settings::{EndpointChange, NewEndpoint, NewHeader, PerSecond},
};
pub use enable::{disable, enable, retry_now};
pub use health::{Overview, failing_of_team, latest, of_team};
pub use store::endpoint::{Pinged, crud::Settings};

/// A site's endpoints, the oldest first, disabled ones included.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
pub async fn list(
    management: &Management,
    caller: &Caller,
    site: SiteId,
    page: Page,
) -> Result<Vec<Endpoint>, Refused> {
    let mut session = management.read(caller, Scope::WebhooksRead).await?;
    sites::require(&mut session, site).await?;
    Ok(crud::list(session.conn(), management.master_key.as_ref(), site, page).await?)
}

/// An endpoint: its settings, and its delivery health.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
pub async fn get(
    management: &Management,
    caller: &Caller,
    endpoint: EndpointId,
) -> Result<Endpoint, Refused> {
    let mut session = management.read(caller, Scope::WebhooksRead).await?;
    find(management, &mut session, endpoint).await
}

/// Adds an endpoint to a site. It gets every event of its kinds that happens from now on.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; a setting is wrong; the plan allows no further endpoint.
pub async fn create(
    management: &Management,
    caller: &Caller,
    site: SiteId,
    new: NewEndpoint,
) -> Result<Endpoint, Refused> {
    let mut session = management.change(caller, Scope::WebhooksWrite).await?;
    let team = sites::require_open(&mut session, site).await?;
    let (endpoint, change) = add(management, &mut session, team, site, new).await?;
    session.commit(change).await?;
    Ok(endpoint)
}

/// Adds an endpoint to a site of this team, in a session that has the scope for it.
pub(crate) async fn add(
    management: &Management,
    session: &mut Session,
    team: TeamId,
    site: SiteId,
    new: NewEndpoint,
) -> Result<(Endpoint, Change), Refused> {
    let settings = new.settings(team, &management.endpoint_checks)?;
    let key = management.master_key.as_ref();
    check_key(session, key).await?;
    let id = crud::add(session.conn(), key, site, &settings).await?;
    let endpoint = find(management, session, id).await?;
    let details = audit_entry::creation(site, &settings);
    let change = changed(Action::EndpointCreate, &endpoint, details);
    Ok((endpoint, change))
}

/// Changes an endpoint. Waiting deliveries use the new settings. If the URL changes, the endpoint
/// counts as new: its delivery health is reset, and waiting deliveries are sent at once.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach; a setting is wrong.
pub async fn update(
    management: &Management,
    caller: &Caller,
    endpoint: EndpointId,
    change: EndpointChange,
) -> Result<Endpoint, Refused> {
    let mut session = management.change(caller, Scope::WebhooksWrite).await?;
    let before = lock(management, &mut session, endpoint).await?;
    apply(management, session, before, change).await
}

/// The same for a caller who has seen the settings before. `is_seen` says whether these are the settings that were seen; if
/// not, nothing is changed.
///
/// # Errors
/// As for [`update`].
pub async fn update_seen(
    management: &Management,
    caller: &Caller,
    endpoint: EndpointId,
    is_seen: impl FnOnce(&Settings) -> bool,
    change: EndpointChange,
) -> Result<Result<Endpoint, Outdated>, Refused> {
    let mut session = management.change(caller, Scope::WebhooksWrite).await?;
    let before = lock(management, &mut session, endpoint).await?;
    if !is_seen(&before.settings) {
        let (action, id) = (Action::EndpointUpdate, before.id.as_uuid());
        return Ok(Err(session.outdated(action, id, "header_names").await?));
    }
    apply(management, session, before, change).await.map(Ok)
}

/// Changes a locked endpoint.
async fn apply(
    management: &Management,
    mut session: Session,
    before: Endpoint,
    change: EndpointChange,
) -> Result<Endpoint, Refused> {
    let endpoint = before.id;
    let old = before.settings.clone();
    let settings = change.applied_to(old, before.team, &management.endpoint_checks)?;
    let Some(details) = audit_entry::change(&before.settings, &settings) else {
        return Ok(before);
    };
    let key = management.master_key.as_ref();
    check_key(&mut session, key).await?;
    crud::change(session.conn(), key, &before, &settings).await?;
    let after = find(management, &mut session, endpoint).await?;
    record(session, Action::EndpointUpdate, &after, details).await?;
    // Its lane may have been paused.
    management.queue.wake([jobs::WEBHOOKS]);
    Ok(after)
}

/// Deletes an endpoint: nothing more is sent to it, and waiting deliveries are discarded. Its
/// deliveries can still be read.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
pub async fn delete(
    management: &Management,
    caller: &Caller,
    endpoint: EndpointId,
) -> Result<(), Refused> {
    let mut session = management.change(caller, Scope::WebhooksWrite).await?;
    let endpoint = lock(management, &mut session, endpoint).await?;
    crud::delete(session.conn(), endpoint.id).await?;
    let details = audit_entry::deletion(&endpoint);
    record(session, Action::EndpointDelete, &endpoint, details).await?;
    management.queue.wake([jobs::WEBHOOKS]);
    Ok(())
}

/// Refuses the key of another database: what is sealed with it would be lost. Without a key,
/// nothing is sealed.
async fn check_key(session: &mut Session, key: Option<&MasterKey>) -> Result<(), Refused> {
    if let Some(key) = key {
        encryption::check_master_key(session.conn(), key).await?;
    }
    Ok(())
}

async fn find(
    management: &Management,
    session: &mut Session,
    endpoint: EndpointId,
) -> Result<Endpoint, Refused> {
    let (reach, key) = (session.reach(), management.master_key.as_ref());
    let endpoint = crud::find(session.conn(), key, reach, endpoint).await?;
    endpoint.ok_or(Refused::NotFound(Noun::Endpoint))
}

/// An endpoint that nobody else changes meanwhile.
async fn lock(
    management: &Management,
    session: &mut Session,
    endpoint: EndpointId,
) -> Result<Endpoint, Refused> {
    let (reach, key) = (session.reach(), management.master_key.as_ref());
    let endpoint = crud::lock(session.conn(), key, reach, endpoint).await?;
    endpoint.ok_or(Refused::NotFound(Noun::Endpoint))
}

/// Records a change of an endpoint, and commits.
async fn record(
    session: Session,
    action: Action,
    endpoint: &Endpoint,
    details: Value,
) -> Result<(), Refused> {
    session.commit(changed(action, endpoint, details)).await
}

fn changed(action: Action, endpoint: &Endpoint, details: Value) -> Change {
    Change {
        action,
        team: Some(endpoint.team),
        target: endpoint.id.as_uuid(),
        details,
    }
}
