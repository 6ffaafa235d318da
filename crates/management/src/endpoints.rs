//! Webhook endpoints: list, create, read, change, disable, enable, retry, delete, test.

mod settings;

use std::collections::HashMap;

use domain::{
    audit::Action,
    id::{EndpointId, SiteId, TeamId},
    reason::Reason,
    scope::Scope,
    webhook::CustomHeader,
};
use serde_json::{Value, json};
pub use store::endpoint::{
    Pinged,
    crud::{Endpoint, Settings},
};
use store::{
    delivery::{self, Latest},
    encryption::{self, MasterKey},
    endpoint::crud,
    jobs,
    page::Page,
};
use url::Url;

use crate::{
    Caller, Change, Management, Noun, Outdated, Refused, Session, boxed, created, deliveries,
    difference, sites,
};

pub use self::settings::{EndpointChange, NewEndpoint, NewHeader, PerSecond, ping};

/// A site's endpoints, the oldest first, disabled ones included.
///
/// # Errors
/// The caller may not do it; there is no such site within reach.
#[boxed]
pub async fn list(caller: &Caller, site: SiteId, page: Page) -> Result<Vec<Endpoint>, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    session.require_site(site).await?;
    Ok(crud::list(
        session.conn(),
        caller.management.master_key.as_ref(),
        site,
        page,
    )
    .await?)
}

/// An endpoint: its settings, and its delivery health.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
#[boxed]
pub async fn get(caller: &Caller, endpoint: EndpointId) -> Result<Endpoint, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    find(&caller.management, &mut session, endpoint).await
}

/// Adds an endpoint to a site. It gets every event of its kinds that happens from now on.
///
/// # Errors
/// The caller may not do it; there is no such site within reach; a setting is wrong; the plan allows no further endpoint.
#[boxed]
pub async fn create(caller: &Caller, site: SiteId, new: NewEndpoint) -> Result<Endpoint, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let team = sites::require_open(&mut session, site).await?;
    let (endpoint, change) = add(&caller.management, &mut session, team, site, new).await?;
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
    let details = creation(site, &settings);
    let change = Change::new(Action::EndpointCreate, endpoint.team, endpoint.id, details);
    Ok((endpoint, change))
}

/// Changes an endpoint. Waiting deliveries use the new settings. If the URL changes, the endpoint
/// counts as new: its delivery health is reset, and waiting deliveries are sent at once.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach; a setting is wrong.
#[boxed]
pub async fn update(
    caller: &Caller,
    endpoint: EndpointId,
    change: EndpointChange,
) -> Result<Endpoint, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let before = lock(&caller.management, &mut session, endpoint).await?;
    apply(&caller.management, session, before, change).await
}

/// The same for a caller who has seen the settings before. `is_seen` says whether these are the settings that were seen; if
/// not, nothing is changed.
///
/// # Errors
/// As for [`update`].
pub async fn update_seen(
    caller: &Caller,
    endpoint: EndpointId,
    is_seen: impl FnOnce(&Settings) -> bool,
    change: EndpointChange,
) -> Result<Result<Endpoint, Outdated>, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let before = lock(&caller.management, &mut session, endpoint).await?;
    if !is_seen(&before.settings) {
        let (action, id) = (Action::EndpointUpdate, before.id.as_uuid());
        return Ok(Err(session.outdated(action, id, "header_names").await?));
    }
    apply(&caller.management, session, before, change)
        .await
        .map(Ok)
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
    let Some(details) = what_changed(&before.settings, &settings) else {
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
#[boxed]
pub async fn delete(caller: &Caller, endpoint: EndpointId) -> Result<(), Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let endpoint = lock(&caller.management, &mut session, endpoint).await?;
    crud::delete(session.conn(), endpoint.id).await?;
    let details = deletion(&endpoint);
    record(session, Action::EndpointDelete, &endpoint, details).await?;
    caller.management.queue.wake([jobs::WEBHOOKS]);
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
    crate::record(session, action, endpoint.team, endpoint.id, details).await
}

/// The details of a new endpoint.
fn creation(site: SiteId, settings: &Settings) -> Value {
    created(&with_site(site, settings))
}

/// The details of a deletion.
fn deletion(endpoint: &Endpoint) -> Value {
    json!({ "deleted": with_site(endpoint.site, &endpoint.settings) })
}

/// The details of a change. `None` if nothing changed.
fn what_changed(before: &Settings, after: &Settings) -> Option<Value> {
    if before == after {
        return None;
    }
    let (from, to) = (shown(before), shown(after));
    let mut details = difference(&from, &to).unwrap_or_else(|| json!({ "changed": {} }));
    // If the difference is in a part that is not shown, the log only says that there is one.
    for (member, differs) in [
        ("origin", before.url != after.url),
        ("header_names", before.headers != after.headers),
    ] {
        if differs {
            details["changed"][member] = json!({ "from": from[member], "to": to[member] });
        }
    }
    Some(details)
}

fn with_site(site: SiteId, settings: &Settings) -> Value {
    let mut shown = shown(settings);
    shown["site_id"] = json!(site);
    shown
}

fn shown(settings: &Settings) -> Value {
    let names: Vec<&str> = settings.headers.iter().map(CustomHeader::name).collect();
    json!({
        "origin": origin(&settings.url),
        "events": settings.events,
        "description": settings.description,
        "max_per_second": settings.max_per_second,
        "header_names": names,
    })
}

/// Scheme, host and port.
fn origin(url: &str) -> String {
    let url = Url::parse(url);
    url.map_or_else(|_| String::new(), |url| url.origin().ascii_serialization())
}

/// Disables an endpoint: it gets no events that happen from now on. An endpoint that is already
/// disabled keeps its reason.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
#[boxed]
pub async fn disable(
    caller: &Caller,
    endpoint: EndpointId,
    reason: &Reason,
) -> Result<Endpoint, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let before = lock(&caller.management, &mut session, endpoint).await?;
    if !crud::disable(session.conn(), endpoint, reason.as_str()).await? {
        return Ok(before);
    }
    let after = find(&caller.management, &mut session, endpoint).await?;
    let details = json!({ "reason": reason });
    record(session, Action::EndpointDisable, &after, details).await?;
    Ok(after)
}

/// Enables an endpoint, whatever disabled it. It counts as new: its delivery health is reset, and
/// waiting deliveries are sent at once.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
#[boxed]
pub async fn enable(caller: &Caller, endpoint: EndpointId) -> Result<Endpoint, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let before = lock(&caller.management, &mut session, endpoint).await?;
    if !crud::enable(session.conn(), endpoint).await? {
        return Ok(before);
    }
    let after = find(&caller.management, &mut session, endpoint).await?;
    let reason = json!({ "from": before.disabled_reason, "to": null });
    let details = json!({ "changed": { "disabled_reason": reason } });
    record(session, Action::EndpointEnable, &after, details).await?;
    caller.management.queue.wake([jobs::WEBHOOKS]);
    Ok(after)
}

/// Makes the deliveries that wait for their next attempt due now, and returns their number. The
/// endpoint's delivery health is reset.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
#[boxed]
pub async fn retry_now(caller: &Caller, endpoint: EndpointId) -> Result<u64, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let endpoint = lock(&caller.management, &mut session, endpoint).await?;
    let deliveries = crud::retry_now(session.conn(), endpoint.id).await?;
    let details = json!({ "deliveries": deliveries });
    record(session, Action::EndpointRetry, &endpoint, details).await?;
    caller.management.queue.wake([jobs::WEBHOOKS]);
    Ok(deliveries)
}

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
#[boxed]
pub async fn of_team(
    caller: &Caller,
    (team, site): (TeamId, Option<SiteId>),
    page: Page,
) -> Result<Vec<Overview>, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    deliveries::sites_of(&mut session, team, site).await?;
    let (conn, key) = (session.conn(), caller.management.master_key.as_ref());
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
#[boxed]
pub async fn failing_of_team(
    caller: &Caller,
    (team, site): (TeamId, Option<SiteId>),
    limit: i64,
) -> Result<(Vec<Endpoint>, i64), Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    session.require_team(team)?;
    let key = caller.management.master_key.as_ref();
    Ok(crud::failing(session.conn(), key, team, site, limit).await?)
}

/// The latest attempts to send something to an endpoint, each of another delivery, the latest
/// first.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
#[boxed]
pub async fn latest(
    caller: &Caller,
    endpoint: EndpointId,
    limit: i64,
) -> Result<Vec<Latest>, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    let endpoint = find(&caller.management, &mut session, endpoint).await?;
    Ok(delivery::latest(session.conn(), &[failing(&endpoint)], limit).await?)
}

/// Since when it fails, if it does.
fn failing(endpoint: &Endpoint) -> (EndpointId, Option<chrono::DateTime<chrono::Utc>>) {
    (endpoint.id, endpoint.health.failing_since)
}
