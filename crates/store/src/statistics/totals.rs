//! The totals of a span of time.

use std::ops::AddAssign;

use uuid::Uuid;

/// How many verdicts had each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// The item may be displayed.
    pub approved: i64,
    /// It may not.
    pub rejected: i64,
    /// A person must decide.
    pub pending_review: i64,
}

/// What happened in a span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Items that were accepted.
    pub accepted: i64,
    /// Verdicts that a content rule decided, or that needed no provider.
    pub rules: Outcomes,
    /// Verdicts that scores of providers decided.
    pub providers: Outcomes,
    /// Verdicts of people. They never ask for a review.
    pub people: Outcomes,
    /// Verdicts about items that could not be checked: the site's `on_failure` decided, or the rules
    /// could not be evaluated.
    pub failures: Outcomes,
    /// Items that waited for a person and were decided.
    pub reviews_decided: i64,
    /// How long they waited, all together, in milliseconds.
    pub reviews_waited_ms: i64,
    /// Webhooks that were delivered.
    pub delivered: i64,
    /// Attempts to deliver a webhook that failed.
    pub failed_attempts: i64,
    /// Webhooks that were given up because all attempts had failed.
    pub exhausted: i64,
    /// Webhooks that were given up because their endpoint was disabled or deleted.
    pub discarded: i64,
}

/// What figures and matches are counted for: a site, its team, and (figures only) everything.
pub(super) const EVERYTHING: Uuid = Uuid::nil();

impl AddAssign for Outcomes {
    fn add_assign(&mut self, other: Self) {
        self.approved += other.approved;
        self.rejected += other.rejected;
        self.pending_review += other.pending_review;
    }
}

impl AddAssign for Figures {
    fn add_assign(&mut self, other: Self) {
        self.accepted += other.accepted;
        self.rules += other.rules;
        self.providers += other.providers;
        self.people += other.people;
        self.failures += other.failures;
        self.reviews_decided += other.reviews_decided;
        self.reviews_waited_ms += other.reviews_waited_ms;
        self.delivered += other.delivered;
        self.failed_attempts += other.failed_attempts;
        self.exhausted += other.exhausted;
        self.discarded += other.discarded;
    }
}
