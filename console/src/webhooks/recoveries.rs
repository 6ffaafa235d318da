//! The recoveries of an endpoint, which send again what it has missed or lost: the list, starting one, and cancelling it.

use askama::Template;
use domain::{
    chain::State,
    id::{EndpointId, RecoveryId},
    recovery::RecoveryKind,
};
use management::{
    endpoints,
    recoveries::{self, Recovery},
};
use poem::http::StatusCode;

use super::{
    endpoint::{self, Said},
    endpoint_name,
    recovery_form::Wanted,
};
use crate::{
    page::{self, Answer, Area, Frame, PageRequest, Problems, pager},
    time::Moment,
};

#[derive(Template)]
#[template(path = "webhooks/recoveries.html")]
struct List {
    frame: Frame,
    /// The path of the endpoint's page.
    path: String,
    name: String,
    recoveries: Vec<Recovered>,
    next: Option<String>,
}

/// A recovery in a list.
pub(super) struct Recovered {
    pub(super) id: RecoveryId,
    /// Which events.
    pub(super) what: &'static str,
    pub(super) event: &'static str,
    pub(super) since: Moment,
    pub(super) until: Moment,
    pub(super) state: &'static str,
    pub(super) tone: &'static str,
    pub(super) is_running: bool,
    /// How much of the time is done, in percent.
    pub(super) percent: i64,
    pub(super) looked_at: i64,
    pub(super) resent: i64,
    pub(super) error: Option<String>,
    pub(super) started: Moment,
}

impl From<Recovery> for Recovered {
    fn from(recovery: Recovery) -> Self {
        let tone = match recovery.state {
            State::Running => "warn",
            State::Finished => "ok",
            State::Cancelled => "",
            State::Failed => "no",
        };
        Self {
            id: recovery.id,
            what: match recovery.kind {
                RecoveryKind::Failed => "what failed",
                RecoveryKind::Delivered => "what was delivered",
                RecoveryKind::Missing => "what was missing",
            },
            event: recovery.event.map_or("all events", |event| event.as_str()),
            percent: percent(&recovery),
            since: recovery.since.into(),
            until: recovery.until.into(),
            state: recovery.state.as_str(),
            tone,
            is_running: recovery.state == State::Running,
            looked_at: recovery.looked_at,
            resent: recovery.resent,
            error: recovery.error,
            started: recovery.created_at.into(),
        }
    }
}

fn percent(recovery: &Recovery) -> i64 {
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
    let (team, id) = (request.team()?, request.id::<EndpointId>("endpoint")?);
    let caller = request.caller()?;
    let settings = endpoints::get(&request.management, &caller, id)
        .await?
        .settings;
    let asked = pager::asked(&request);
    let found = recoveries::list(&request.management, &caller, id, asked).await?;
    Ok(page::shown(&List {
        frame: Frame::of(&request, "webhooks").await?,
        path: endpoint::path(&request)?,
        name: endpoint_name::name(settings.description.as_deref(), &settings.url),
        next: pager::next(&request, &found, |one| one.id),
        recoveries: found.into_iter().map(Recovered::from).collect(),
    }))
}

pub(crate) async fn start(request: PageRequest) -> Answer {
    let (team, id) = (request.team()?, request.id::<EndpointId>("endpoint")?);
    let caller = request.caller()?;
    let wanted = Wanted::sent(&request.form);
    let started = match wanted.read() {
        Ok(new) => recoveries::create(&request.management, &caller, id, new).await,
        Err(refused) => Err(refused),
    };
    match started {
        Ok(_) => {
            let path = endpoint::path(&request)?;
            Ok(page::see_other(format!("{path}?done=recovery-started")))
        }
        Err(refused) => {
            let said = Said {
                wanted: Some(wanted),
                problems: Problems::of(refused)?,
                ..Said::default()
            };
            endpoint::page(&request, StatusCode::UNPROCESSABLE_ENTITY, said).await
        }
    }
}

pub(crate) async fn cancel(request: PageRequest) -> Answer {
    let (team, recovery) = (request.team()?, request.id::<RecoveryId>("recovery")?);
    let caller = request.caller()?;
    recoveries::cancel(&request.management, &caller, recovery).await?;
    let path = endpoint::path(&request)?;
    Ok(page::see_other(format!("{path}?done=recovery-cancelled")))
}
