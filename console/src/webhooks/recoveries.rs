//! The recoveries of an endpoint, which send again what it has missed or lost: the list, the form, starting one, and cancelling it.

use askama::Template;
use chrono::TimeDelta;
use domain::{
    chain::State,
    event::EventKind,
    id::{EndpointId, RecoveryId},
    recovery::RecoveryKind,
};
use management::{
    Refused,
    endpoints::{self, Endpoint},
    recoveries::{self, NewRecovery, Recovery},
};

use super::{endpoint_name, filters};
use crate::page::{self, Answer, Form, Frame, PageRequest, Texts, pager};

#[derive(Template)]
#[template(path = "webhooks/recoveries.html")]
struct List {
    frame: Frame,
    /// The path of the endpoint's page.
    path: String,
    name: String,
    recoveries: Vec<Recovery>,
    next: Option<String>,
}

/// Which events, in words.
pub(super) fn what(kind: RecoveryKind) -> &'static str {
    match kind {
        RecoveryKind::Failed => "what failed",
        RecoveryKind::Delivered => "what was delivered",
        RecoveryKind::Missing => "what was missing",
    }
}

pub(super) fn tone(state: State) -> &'static str {
    match state {
        State::Running => "warn",
        State::Finished => "ok",
        State::Cancelled => "",
        State::Failed => "no",
    }
}

/// How much of the time is done.
pub(super) fn percent(recovery: &Recovery) -> i64 {
    let whole = (recovery.until - recovery.since).num_seconds().max(1);
    let reached = recovery.reached;
    let done = reached.map_or(0, |reached| (reached - recovery.since).num_seconds());
    if recovery.state == State::Finished {
        100
    } else {
        (done * 100 / whole).clamp(0, 100)
    }
}

pub(crate) async fn list(request: PageRequest) -> Answer {
    let (id, caller) = (request.id::<EndpointId>("endpoint")?, request.caller()?);
    let endpoint = endpoints::get(&caller, id).await?;
    let settings = endpoint.settings;
    let asked = pager::asked(&request);
    let found = recoveries::list(&caller, id, asked).await?;
    let frame = Frame::of(&request, "webhooks").await?;
    Ok(page::shown(&List {
        path: frame.path(&format!("webhooks/{id}")),
        frame,
        name: endpoint_name::name(settings.description.as_deref(), &settings.url),
        next: pager::next(&request, &found, |one| one.id),
        recoveries: found,
    }))
}

pub(crate) async fn cancel(request: PageRequest) -> Answer {
    let (recovery, caller) = (request.id::<RecoveryId>("recovery")?, request.caller()?);
    recoveries::cancel(&caller, recovery).await?;
    let endpoint: EndpointId = request.id("endpoint")?;
    request.lead_to(format!("webhooks/{endpoint}?done=recovery-cancelled"))
}

/// How far back the form begins by itself.
const USUAL: TimeDelta = TimeDelta::days(7);
/// How long deliveries are tried, rounded up: what failed when an endpoint broke may be this much older.
const SCHEDULE: TimeDelta = TimeDelta::days(3);

/// The form for an endpoint of a site that keeps events for so many days: all that failed since
/// the endpoint did, or in the last week.
pub(super) fn suggested(endpoint: &Endpoint, days: i64) -> Texts {
    let now = endpoint.at;
    let failing = endpoint.health.failing_since;
    let broke = failing.map_or(now, |since| since - SCHEDULE);
    // What is older is not kept. An hour for somebody who thinks about it.
    let oldest = now - TimeDelta::days(days) + TimeDelta::hours(1);
    let since = broke.min(now - USUAL).max(oldest);
    Texts::stored([
        ("kind", RecoveryKind::Failed.to_string()),
        ("since", filters::time_field(since)),
    ])
}

pub(super) fn sent(form: &Form) -> Texts {
    Texts::sent(form, &["kind", "event", "since", "until"])
}

/// `Err`: the first field that is wrong.
pub(super) fn read(typed: &Texts) -> Result<NewRecovery, Refused> {
    let kind = typed.get("kind").parse::<RecoveryKind>();
    let kind = kind.map_err(|_| Refused::field("kind", "must be one of the three"))?;
    let event = match typed.get("event") {
        "" => None,
        event => {
            let event = event.parse::<EventKind>();
            Some(event.map_err(|_| Refused::field("event", "must be one of the list"))?)
        }
    };
    let time = |field: &str| {
        let time = filters::time(typed.get(field));
        time.ok_or_else(|| Refused::field(field, filters::TIME_EXPECTED))
    };
    Ok(NewRecovery {
        kind,
        event,
        since: time("since")?,
        until: match typed.get("until") {
            "" => None,
            _ => Some(time("until")?),
        },
    })
}
