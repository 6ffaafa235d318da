//! When a new secret begins to sign, as the form asks for it.

use chrono::{DateTime, TimeDelta, Utc};
use domain::webhook::LONGEST_NOTICE;

use crate::{
    page::{Form, Problems},
    time,
};

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
        let now = Utc::now();
        let wrong = match time::typed(&self.at) {
            None => "must be a date and a time, such as 2026-03-31T12:00",
            Some(at) if at <= now => "must be in the future",
            Some(at) if at > now + LONGEST_NOTICE => "must be at most 30 days ahead",
            Some(at) => return Ok(Some(at)),
        };
        Err(Problems::field("activate_at", wrong))
    }
}
