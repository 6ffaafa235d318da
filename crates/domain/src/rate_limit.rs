//! Rate limits, and their defaults.

use crate::media::named_set;

named_set! {
    /// Requests that are limited per minute.
    RatePolicy {
        /// Submissions.
        Submit = "submit",
        /// Status queries.
        Status = "status",
    }
}

named_set! {
    /// Whose requests a limit counts together.
    RateScope {
        /// Those of one site key.
        Key = "key",
        /// Those of all site keys of one team.
        Team = "team",
    }
}

/// The length of the windows of all rate limits, in seconds: a UTC minute.
pub const WINDOW_SECONDS: u32 = 60;

/// If a plan does not limit a team's requests, its keys together may make this many times the
/// requests of one key.
pub const KEYS_OF_A_TEAM: u32 = 10;

impl RatePolicy {
    /// The documented limit: how many requests one site key may make in a window, if no plan says
    /// otherwise.
    pub const fn documented(self) -> u32 {
        match self {
            Self::Submit => 1_000,
            Self::Status => 2_000,
        }
    }

    /// The name of a limit, in the `RateLimit` headers and in metrics.
    pub const fn name(self, scope: RateScope) -> &'static str {
        match (scope, self) {
            (RateScope::Key, Self::Submit) => "submit",
            (RateScope::Key, Self::Status) => "status",
            (RateScope::Team, Self::Submit) => "team_submit",
            (RateScope::Team, Self::Status) => "team_status",
        }
    }
}

/// One limit in the present window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateWindow {
    /// The limit's name.
    pub name: &'static str,
    /// Requests that the window allows.
    pub limit: u32,
    /// How many of them are left, as far as this process knows. Other processes may have taken some
    /// in the meantime.
    pub remaining: u32,
    /// Seconds until the next window, rounded up; at least 1.
    pub resets_in: u32,
}

/// The rate limits of a request's key and of its team in the present window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateStanding {
    /// The site key.
    pub key: RateWindow,
    /// All keys of its team together.
    pub team: RateWindow,
}

impl RateStanding {
    /// The limit that is reached first if nobody else sends requests.
    pub const fn tighter(&self) -> RateWindow {
        if self.team.remaining < self.key.remaining {
            self.team
        } else {
            self.key
        }
    }

    /// One of the two.
    pub const fn of(&self, scope: RateScope) -> RateWindow {
        match scope {
            RateScope::Key => self.key,
            RateScope::Team => self.team,
        }
    }
}
