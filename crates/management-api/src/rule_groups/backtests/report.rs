//! A backtest's progress, and what it has found.

mod examples;
mod progress;

use api_common::field::Field;
use domain::{
    backtest::{Agreement, Count, Decided},
    id::RuleId,
    media::Status,
};
use management::rule_groups::backtests;
use poem_openapi::Object;
use serde::Serialize;
use store::backtest;
use uuid::Uuid;

pub(super) use examples::{change_example, example, full_example};
pub(crate) use progress::Backtest;

/// A backtest with its findings.
#[derive(Serialize, Object)]
pub(crate) struct BacktestReport {
    /// The backtest.
    #[serde(flatten)]
    #[oai(flatten)]
    backtest: Backtest,
    /// How many items got which status from the machine, which one they would get, and what people decided.
    counts: Vec<BacktestCount>,
    /// How the machine's original verdicts agree with what people decided.
    agreement_before: Vec<BacktestAgreement>,
    /// How the replayed verdicts agree with what people decided.
    agreement_after: Vec<BacktestAgreement>,
}

/// The number of items with the same statuses and decision.
#[derive(Serialize, Object)]
struct BacktestCount {
    /// The status that the machine gave them at the time.
    old_status: Field<Status>,
    /// The status that they would get.
    new_status: Field<Status>,
    /// What people decided.
    decided: Field<Decided>,
    /// The number of items.
    items: u64,
}

/// How verdicts of one kind agree with what people decided. Only items that somebody decided about count.
#[derive(Serialize, Object)]
struct BacktestAgreement {
    /// The kind of verdict: `rejected`, `pending_review`, or `stopped`, which means either of them.
    kind: String,
    /// The number of items with such a verdict.
    items: u64,
    /// Of these, the number of items that people rejected.
    rejected_by_people: u64,
    /// The share of these items that people rejected, from 0 to 1. `null` if there are no such items.
    #[oai(nullable)]
    precision: Option<f64>,
    /// Of all items that people rejected, the share that had such a verdict, from 0 to 1. `null` if people rejected none.
    #[oai(nullable)]
    recall: Option<f64>,
}

impl From<backtests::BacktestReport> for BacktestReport {
    fn from(report: backtests::BacktestReport) -> Self {
        let counts = report.counts;
        Self {
            backtest: report.backtest.into(),
            agreement_before: agreement(&counts, |count| count.old),
            agreement_after: agreement(&counts, |count| count.new),
            counts: counts.into_iter().map(BacktestCount::from).collect(),
        }
    }
}

impl From<Count> for BacktestCount {
    fn from(count: Count) -> Self {
        Self {
            old_status: Field(count.old),
            new_status: Field(count.new),
            decided: Field(count.decided),
            items: count.items,
        }
    }
}

fn agreement(
    counts: &[Count],
    verdict: impl Fn(&Count) -> Status + Copy,
) -> Vec<BacktestAgreement> {
    let kinds: [(&str, &[Status]); 3] = [
        ("rejected", &[Status::Rejected]),
        ("pending_review", &[Status::PendingReview]),
        ("stopped", &[Status::Rejected, Status::PendingReview]),
    ];
    let agreement = |(kind, statuses): (&str, &[Status])| {
        let agreement = Agreement::of(counts, verdict, statuses);
        BacktestAgreement {
            kind: kind.to_owned(),
            items: agreement.flagged,
            rejected_by_people: agreement.both,
            precision: agreement.precision(),
            recall: agreement.recall(),
        }
    };
    kinds.into_iter().map(agreement).collect()
}

/// An item that would get another status.
#[derive(Serialize, Object)]
pub(crate) struct BacktestChangeEntry {
    /// The media item.
    media_id: Uuid,
    /// The status that the machine gave it at the time.
    old_status: Field<Status>,
    /// The status that it would get.
    new_status: Field<Status>,
    /// What people decided.
    decided: Field<Decided>,
    /// The rules that it would violate, of all groups that judge it. At most 20 are listed.
    violated_rules: Vec<Uuid>,
}

impl From<backtest::Change> for BacktestChangeEntry {
    fn from(change: backtest::Change) -> Self {
        Self {
            media_id: change.media.as_uuid(),
            old_status: Field(change.old),
            new_status: Field(change.new),
            decided: Field(change.decided),
            violated_rules: change.rules.into_iter().map(RuleId::as_uuid).collect(),
        }
    }
}
