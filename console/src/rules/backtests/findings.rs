//! What a backtest has found, as people read it.

use domain::{
    backtest::{Agreement, Count, Decided},
    media::Status,
};
use management::rule_groups::backtests::Change;

use crate::rules::trial::tone;

/// A status and its tone.
pub(super) type Told = (Status, &'static str);

fn told(status: Status) -> Told {
    (status, tone(status))
}

/// The findings.
pub(super) struct Findings {
    /// Statuses at the time, statuses now, and the number of items.
    pub(super) counts: Vec<(Told, Told, u64)>,
    /// How verdicts agree with people: what is compared, before, and after.
    pub(super) agreement: Vec<(&'static str, Shares, Shares)>,
    /// Whether people decided about any of the items.
    pub(super) has_decisions: bool,
}

/// Precision and recall, in words.
pub(super) struct Shares {
    pub(super) precision: String,
    pub(super) recall: String,
}

impl Findings {
    pub(super) fn of(counts: &[Count]) -> Self {
        let mut pairs: Vec<(Told, Told, u64)> = Vec::new();
        for count in counts {
            let same = pairs
                .iter_mut()
                .find(|(old, new, _)| (old.0, new.0) == (count.old, count.new));
            match same {
                Some((_, _, items)) => *items += count.items,
                None => pairs.push((told(count.old), told(count.new), count.items)),
            }
        }
        let kinds: [(&str, &[Status]); 3] = [
            ("rejected", &[Status::Rejected]),
            ("pending_review", &[Status::PendingReview]),
            ("either", &[Status::Rejected, Status::PendingReview]),
        ];
        let agreement = kinds.into_iter().map(|(name, kinds)| {
            let before = Agreement::of(counts, |count| count.old, kinds);
            let after = Agreement::of(counts, |count| count.new, kinds);
            (name, Shares::of(before), Shares::of(after))
        });
        Self {
            counts: pairs,
            agreement: agreement.collect(),
            has_decisions: counts.iter().any(|count| count.decided != Decided::Nobody),
        }
    }
}

impl Shares {
    fn of(agreement: Agreement) -> Self {
        let percent = |share: Option<f64>| {
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", share * 100.0))
        };
        Self {
            precision: percent(agreement.precision()),
            recall: percent(agreement.recall()),
        }
    }
}

/// An item that would get another status.
pub(super) struct Changed {
    pub(super) id: String,
    pub(super) old: Told,
    pub(super) new: Told,
    pub(super) decided: Decided,
}

impl From<Change> for Changed {
    fn from(change: Change) -> Self {
        Self {
            id: change.media.to_string(),
            old: told(change.old),
            new: told(change.new),
            decided: change.decided,
        }
    }
}
