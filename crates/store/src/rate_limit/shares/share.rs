//! One share: what it covers, until when, and what is left of it.

use std::time::Duration;

use domain::rate_limit::{RatePolicy, RateScope, RateStanding, RateWindow};
use tokio::time::Instant;

use crate::rate_limit::windows::Given;

/// A part of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// The minute as Postgres counts it, in seconds since 1970.
    pub(super) minute: i64,
    pub(super) expires: Instant,
    pub(super) limit: u32,
    pub(super) left: u32,
    /// What was not given out when Postgres was asked last.
    pub(super) rest: u32,
    /// Whether other processes held parts then.
    pub(super) others: bool,
    /// Until when nothing is certainly left anywhere.
    pub(super) spent_until: Option<Instant>,
}

impl Share {
    /// What was held and what was given, as one. None: the minute is over already.
    pub(super) fn joined(
        before: Option<Self>,
        given: Given,
        asked_at: Instant,
        now: Instant,
    ) -> Option<Self> {
        let valid = Duration::from_millis(u64::try_from(given.ends_in_ms).unwrap_or(0));
        let expires = asked_at + valid;
        let kept = before.filter(|share| share.minute == given.minute && share.expires > now);
        (expires > now).then(|| Self {
            minute: given.minute,
            expires,
            limit: given.limit,
            left: given.share + kept.map_or(0, |share| share.left),
            rest: given.rest,
            others: given.others,
            spent_until: None,
        })
    }

    pub(super) fn window(&self, name: &'static str, now: Instant) -> RateWindow {
        let seconds = self
            .expires
            .saturating_duration_since(now)
            .as_secs_f64()
            .ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and the length of a window"
        )]
        let resets_in = (seconds as u32).max(1);
        RateWindow {
            name,
            limit: self.limit,
            remaining: self.left + self.rest,
            resets_in,
        }
    }
}

pub(super) fn standing(
    policy: RatePolicy,
    key: &Share,
    team: &Share,
    now: Instant,
) -> RateStanding {
    RateStanding {
        key: key.window(policy.name(RateScope::Key), now),
        team: team.window(policy.name(RateScope::Team), now),
    }
}
