//! When a new secret begins to sign, as the form asks for it.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use domain::webhook::LONGEST_NOTICE;

use crate::page::{Form, Problems};

/// How browsers send a date with a time. Seconds are sent only if they are not zero.
const FORMATS: [&str; 2] = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"];

/// What the form shows and sends.
pub(super) struct StartTime {
    /// Later, not now.
    pub(super) is_later: bool,
    /// When, in UTC.
    pub(super) at: String,
}

impl Default for StartTime {
    /// Now; and if later, tomorrow.
    fn default() -> Self {
        let tomorrow = Utc::now() + TimeDelta::days(1);
        Self {
            is_later: false,
            at: tomorrow.format("%Y-%m-%dT%H:00").to_string(),
        }
    }
}

impl StartTime {
    pub(super) fn of(form: &Form) -> Self {
        Self {
            is_later: form.get("when") == "later",
            at: form.get("activate_at").trim().to_owned(),
        }
    }

    /// The time; none means now.
    ///
    /// # Errors
    /// It is none, is past, or is too far away.
    pub(super) fn parsed(&self) -> Result<Option<DateTime<Utc>>, Problems> {
        if !self.is_later {
            return Ok(None);
        }
        let mut formats = FORMATS.iter();
        let at = formats.find_map(|format| NaiveDateTime::parse_from_str(&self.at, format).ok());
        let now = Utc::now();
        let wrong = match at.map(|at| at.and_utc()) {
            None => "must be a date and a time, such as 2026-03-31T12:00",
            Some(at) if at <= now => "must be in the future",
            Some(at) if at > now + LONGEST_NOTICE => "must be at most 30 days ahead",
            Some(at) => return Ok(Some(at)),
        };
        let mut problems = Problems::default();
        problems.add("activate_at", wrong);
        Err(problems)
    }
}
