//! Recoveries: send again what an endpoint has missed or lost, watch, stop.

use std::time::Duration;

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    event::EventKind,
    id::{EndpointId, RecoveryId},
    recovery::RecoveryKind,
    scope::Scope,
};
use serde_json::json;
pub use store::recovery::Recovery;
use store::{
    page::Page,
    recovery::{self, Target},
};

use crate::{Caller, Conflict, Noun, Refused, Session, boxed, created, record};

const DAY: Duration = Duration::from_hours(24);

/// What to send to an endpoint again.
#[derive(Clone, Copy, Debug)]
pub struct NewRecovery {
    /// Which events.
    pub kind: RecoveryKind,
    /// Only events of this kind. `None`: all kinds.
    pub event: Option<EventKind>,
    /// Only events that happened at this time or later.
    pub since: DateTime<Utc>,
    /// Only events that happened before this time. If `None` or in the future, before now.
    pub until: Option<DateTime<Utc>>,
}

impl NewRecovery {
    /// The times between which events are sent. The site keeps the events of this whole time.
    fn window(&self, target: &Target) -> Result<(DateTime<Utc>, DateTime<Utc>), Refused> {
        let (since, now) = (self.since, target.at);
        let days = target.retention.get();
        if since < now - DAY * u32::try_from(days).unwrap_or(u32::MAX) {
            let message = format!("is more than {days} days ago: what is older is not kept");
            return Err(Refused::field("since", message));
        }
        if since >= now {
            return Err(Refused::field("since", "must be in the past"));
        }
        let until = self.until.map_or(now, |until| until.min(now));
        if until <= since {
            return Err(Refused::field("until", "must be after since"));
        }
        Ok((since, until))
    }
}

/// Recoveries of an endpoint, the latest first.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach.
#[boxed]
pub async fn list(
    caller: &Caller,
    endpoint: EndpointId,
    page: Page,
) -> Result<Vec<Recovery>, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    let target = target(&mut session, endpoint).await?;
    Ok(recovery::list(session.conn(), target.endpoint, page).await?)
}

/// A recovery, and how far it has got.
///
/// # Errors
/// The caller may not do it; there is no such recovery within reach.
#[boxed]
pub async fn get(caller: &Caller, recovery: RecoveryId) -> Result<Recovery, Refused> {
    let mut session = caller.read(Scope::WebhooksRead).await?;
    find(&mut session, recovery).await
}

/// Starts a recovery. It runs in the background.
///
/// # Errors
/// The caller may not do it; there is no such endpoint within reach; the times are not within the
/// retention; the endpoint is disabled or has a recovery that runs.
#[boxed]
pub async fn create(
    caller: &Caller,
    endpoint: EndpointId,
    new: NewRecovery,
) -> Result<Recovery, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let target = target(&mut session, endpoint).await?;
    let (since, until) = new.window(&target)?;
    if target.is_disabled {
        return Err(Refused::conflict(
            Conflict::EndpointDisabled,
            "The endpoint is disabled: nothing is sent to it before it is enabled.",
        ));
    }
    let wanted = recovery::NewRecovery {
        target: &target,
        kind: new.kind,
        event: new.event,
        since,
        until,
        by: session.actor(),
    };
    let started = recovery::create(session.conn(), wanted).await?;
    let (id, jobs) = started.ok_or_else(|| {
        Refused::conflict(
            Conflict::RecoveryRunning,
            "The endpoint has a recovery that has not ended: wait for it, or cancel it.",
        )
    })?;
    let recovery = find(&mut session, id).await?;
    let details = created(&recovery);
    // The audit log names the endpoint of a recovery as its target.
    let action = Action::RecoveryCreate;
    record(session, action, recovery.team, recovery.endpoint, details).await?;
    caller.management.queue.enqueued(&jobs);
    Ok(recovery)
}

/// Stops a recovery. Deliveries that are on their way continue. A recovery that has ended stays as
/// it is.
///
/// # Errors
/// The caller may not do it; there is no such recovery within reach.
#[boxed]
pub async fn cancel(caller: &Caller, recovery: RecoveryId) -> Result<Recovery, Refused> {
    let mut session = caller.change(Scope::WebhooksWrite).await?;
    let before = find(&mut session, recovery).await?;
    if !recovery::cancel(session.conn(), recovery).await? {
        return Ok(before);
    }
    let after = find(&mut session, recovery).await?;
    let details = json!({ "cancelled": after });
    let action = Action::RecoveryCancel;
    record(session, action, after.team, after.endpoint, details).await?;
    Ok(after)
}

async fn target(session: &mut Session, endpoint: EndpointId) -> Result<Target, Refused> {
    let reach = session.reach();
    let target = recovery::target(session.conn(), reach, endpoint).await?;
    target.ok_or(Refused::NotFound(Noun::Endpoint))
}

async fn find(session: &mut Session, recovery: RecoveryId) -> Result<Recovery, Refused> {
    let reach = session.reach();
    let recovery = recovery::find(session.conn(), reach, recovery).await?;
    recovery.ok_or(Refused::NotFound(Noun::Recovery))
}
