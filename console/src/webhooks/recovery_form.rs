//! The form of a recovery: what it suggests, and what was typed.

use chrono::TimeDelta;
use domain::{event::EventKind, recovery::RecoveryKind};
use management::{Refused, endpoints::Endpoint, recoveries::NewRecovery};

use super::{
    choices::{self, Choice},
    time_input,
};
use crate::page::Form;

/// How far back the form begins by itself.
const USUAL: TimeDelta = TimeDelta::days(7);
/// How long deliveries are tried, rounded up: what failed when an endpoint broke may be this much older.
const SCHEDULE: TimeDelta = TimeDelta::days(3);

/// What was typed.
pub(super) struct Wanted {
    kind: String,
    event: String,
    since: String,
    until: String,
}

impl Wanted {
    pub(super) fn sent(form: &Form) -> Self {
        let text = |field| form.get(field).trim().to_owned();
        Self {
            kind: text("kind"),
            event: text("event"),
            since: text("since"),
            until: text("until"),
        }
    }

    /// # Errors
    /// The first field that is wrong.
    pub(super) fn read(&self) -> Result<NewRecovery, Refused> {
        let kind = self.kind.parse::<RecoveryKind>();
        let kind = kind.map_err(|_| Refused::field("kind", "must be one of the three"))?;
        let event = match self.event.as_str() {
            "" => None,
            event => {
                let event = event.parse::<EventKind>();
                Some(event.map_err(|_| Refused::field("event", "must be one of the list"))?)
            }
        };
        let time = |field: &str, text: &str| {
            time_input::read(text).ok_or_else(|| Refused::field(field, time_input::EXPECTED))
        };
        Ok(NewRecovery {
            kind,
            event,
            since: time("since", &self.since)?,
            until: match self.until.as_str() {
                "" => None,
                until => Some(time("until", until)?),
            },
        })
    }
}

/// The fields of the form.
pub(super) struct Asked {
    pub(super) kind: String,
    pub(super) events: Vec<Choice>,
    pub(super) since: String,
    pub(super) until: String,
}

impl Asked {
    /// The fields for an endpoint of a site that keeps events for so many days: all that failed
    /// since the endpoint did, or in the last week.
    pub(super) fn suggested(endpoint: &Endpoint, days: i64) -> Self {
        let now = endpoint.at;
        let failing = endpoint.health.failing_since;
        let broke = failing.map_or(now, |since| since - SCHEDULE);
        // What is older is not kept. An hour for somebody who thinks about it.
        let oldest = now - TimeDelta::days(days) + TimeDelta::hours(1);
        Self {
            kind: RecoveryKind::Failed.to_string(),
            events: choices::all(EventKind::ALL, ""),
            since: time_input::field(broke.min(now - USUAL).max(oldest)),
            until: String::new(),
        }
    }

    /// The fields as they were sent.
    pub(super) fn again(wanted: &Wanted) -> Self {
        Self {
            kind: wanted.kind.clone(),
            events: choices::all(EventKind::ALL, &wanted.event),
            since: wanted.since.clone(),
            until: wanted.until.clone(),
        }
    }
}
