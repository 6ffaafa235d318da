//! Backtests: how well the verdicts of replayed rules agree with what people decided.

use crate::{
    media::{Status, named_set},
    proportion::Proportion,
};

named_set! {
    /// What people decided about an item. If there are several decisions, the last one.
    Decided {
        /// Nobody has decided.
        Nobody = "nobody",
        /// It may be displayed.
        Approved = "approved",
        /// It may not.
        Rejected = "rejected",
    }
}

/// How many items share what the machine said, what the replayed rules say and what people decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// What the machine said at the time.
    pub old: Status,
    /// What it would say.
    pub new: Status,
    /// What people decided.
    pub decided: Decided,
    /// The number of items.
    pub items: u64,
}

/// How verdicts of some kind agree with what people decided. Only items with a decision of a person
/// count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Items with such a verdict.
    pub flagged: u64,
    /// Items that people rejected.
    pub rejected: u64,
    /// Items that are both.
    pub both: u64,
}

impl Agreement {
    /// Compares people with verdicts that are one of `kinds`. `verdict` selects which verdict of a
    /// count is compared.
    pub fn of(counts: &[Count], verdict: impl Fn(&Count) -> Status, kinds: &[Status]) -> Self {
        let mut agreement = Self::default();
        for count in counts {
            let flagged = kinds.contains(&verdict(count));
            let rejected = match count.decided {
                Decided::Nobody => continue,
                Decided::Approved => false,
                Decided::Rejected => true,
            };
            for (holds, sum) in [
                (flagged, &mut agreement.flagged),
                (rejected, &mut agreement.rejected),
                (flagged && rejected, &mut agreement.both),
            ] {
                *sum += if holds { count.items } else { 0 };
            }
        }
        agreement
    }

    /// The share of the items with such a verdict that people rejected, from 0 to 1. None if there
    /// are no such items.
    pub fn precision(self) -> Option<f64> {
        Proportion {
            hits: self.both,
            of: self.flagged,
        }
        .share()
    }

    /// The share of the items rejected by people that had such a verdict, from 0 to 1. None if
    /// people rejected nothing.
    pub fn recall(self) -> Option<f64> {
        Proportion {
            hits: self.both,
            of: self.rejected,
        }
        .share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_and_recall_are_about_what_people_decided_only() {
        let count = |new, decided, items| Count {
            old: Status::Approved,
            new,
            decided,
            items,
        };
        let counts = [
            count(Status::Rejected, Decided::Rejected, 6),
            count(Status::Rejected, Decided::Approved, 2),
            count(Status::Rejected, Decided::Nobody, 1_000),
            count(Status::PendingReview, Decided::Rejected, 3),
            count(Status::Approved, Decided::Rejected, 1),
            count(Status::Approved, Decided::Approved, 40),
        ];
        let new = |count: &Count| count.new;
        let rejected = Agreement::of(&counts, new, &[Status::Rejected]);
        assert_eq!(
            (rejected.precision(), rejected.recall()),
            (Some(0.75), Some(0.6))
        );
        let stopped = Agreement::of(&counts, new, &[Status::Rejected, Status::PendingReview]);
        assert_eq!(
            (stopped.flagged, stopped.rejected, stopped.both),
            (11, 10, 9)
        );
        let old = Agreement::of(&counts, |count| count.old, &[Status::Rejected]);
        assert_eq!((old.precision(), old.recall()), (None, Some(0.0)));
    }
}
