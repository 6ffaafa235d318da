//! What is limited, and the limits where nothing else is set.

use crate::media::named_set;

named_set! {
    /// What a site key may do only so often in a minute; also the name in the `RateLimit` headers.
    RatePolicy {
        /// Submissions.
        Submit = "submit",
        /// Status queries.
        Status = "status",
    }
}

/// The length of the windows of all rate limits, in seconds: a UTC minute.
pub const WINDOW_SECONDS: u32 = 60;

impl RatePolicy {
    /// Requests of one site key in a window where no plan says otherwise: the documented limits.
    pub const fn documented(self) -> u32 {
        match self {
            Self::Submit => 1_000,
            Self::Status => 2_000,
        }
    }
}

/// Where a key stands in the present window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateWindow {
    /// What is limited.
    pub policy: RatePolicy,
    /// Requests that the window allows.
    pub limit: u32,
    /// How many of them are left, as far as this process knows: others may have taken some since it last heard.
    pub remaining: u32,
    /// Seconds until the next window, rounded up; at least 1.
    pub resets_in: u32,
}
