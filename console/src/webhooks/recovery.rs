//! A recovery in a list: which events it sends, and how far it has got.

use domain::{chain::State, id::RecoveryId, recovery::RecoveryKind};
use management::recoveries::Recovery;

use crate::time::Moment;

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
