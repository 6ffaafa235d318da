//! What happened in the time range, step by step, and in the one before.

use management::statistics::{Bucket, Figures, Outcomes, Report};

use super::{
    percentages::{WHOLE, part},
    time_range::Window,
};

pub(super) struct Trend {
    pub(super) window: Window,
    pub(super) steps: Vec<Figures>,
    /// The sums of all steps.
    pub(super) total: Figures,
    /// The sums of the window's hours that are over and wholly counted, and of the same hours of the window before.
    pub(super) compared: (Figures, Figures),
}

impl Trend {
    /// What happened in the window, and by the hour in the one before.
    pub(super) fn new(window: Window, now: &Report, before: &[Bucket]) -> Self {
        let steps = window.steps(&now.buckets);
        let mut total = Figures::default();
        for step in &steps {
            total += *step;
        }
        Self {
            window,
            steps,
            total,
            compared: window.compared(&now.buckets, before, now.counted_until),
        }
    }

    /// Whether nothing was counted, neither in the window nor in the one before.
    pub(super) fn is_empty(&self) -> bool {
        self.total == Figures::default() && self.compared.1 == Figures::default()
    }
}

/// The verdicts of machines and of people.
pub(super) fn every_verdict(figures: &Figures) -> Verdicts {
    let mut all = Outcomes::default();
    for outcomes in [
        figures.rules,
        figures.providers,
        figures.people,
        figures.failures,
    ] {
        all += outcomes;
    }
    Verdicts(all)
}

pub(super) struct Verdicts(pub(super) Outcomes);

impl Verdicts {
    pub(super) const fn sum(&self) -> i64 {
        self.0.approved + self.0.rejected + self.0.pending_review
    }
}

pub(super) fn by_people(figures: &Figures) -> i64 {
    figures.people.approved + figures.people.rejected
}

/// Verdicts that ask a person to decide.
pub(super) fn sent_to_review(figures: &Figures) -> i64 {
    every_verdict(figures).0.pending_review
}

/// How many of the deliveries that ended were delivered, in hundredths of a percent.
pub(super) fn delivered(figures: &Figures) -> Option<u64> {
    let ended = figures.delivered + figures.exhausted + figures.discarded;
    (ended > 0).then(|| part(figures.delivered, ended, WHOLE))
}
