//! Valid submissions that were not stored, counted by reason.

use metrics::counter;

/// Why a submission was not stored; a metric label.
#[derive(Clone, Copy, Debug)]
pub(super) enum Rejection {
    /// Too much was waiting already.
    Overloaded,
    /// Postgres did not take it in time.
    Unavailable,
    /// Postgres refuses the row for its values.
    Refused,
    /// Postgres fails on the row.
    Failed,
    /// Too many rows of its team failed.
    Untried,
}

impl Rejection {
    /// Shows every reason as 0 from the start: a counter that first appears with its first incident
    /// shows no increase, so nobody would notice it.
    pub(super) fn expect_none() {
        for reason in [
            Self::Overloaded,
            Self::Unavailable,
            Self::Refused,
            Self::Failed,
            Self::Untried,
        ] {
            reason.count(0);
        }
    }

    /// Counts so many submissions.
    pub(super) fn count(self, submissions: usize) {
        let reason = match self {
            Self::Overloaded => "overloaded",
            Self::Unavailable => "unavailable",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Untried => "untried",
        };
        counter!("gatehouse_accept_rejected_total", "reason" => reason)
            .increment(submissions as u64);
    }
}
