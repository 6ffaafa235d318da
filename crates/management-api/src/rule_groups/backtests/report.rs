//! A backtest's progress, and what it has found.

use api_common::{Field, Schema, Time, openapi::extend};
use domain::{
    backtest::{Agreement, Count, Decided},
    chain::State,
    id::{ActorId, GroupVersionId, RuleId, SiteId},
    media::Status,
};
use management::rule_groups::backtests;
use serde::Serialize;
use serde_json::{Value, json};
use store::backtest;
use uuid::Uuid;

use crate::example_values;

/// A backtest with its findings.
#[derive(Serialize, Schema)]
pub(crate) struct BacktestReport {
    /// The backtest.
    #[serde(flatten)]
    backtest: Backtest,
    /// How many items got which status from the machine, which one they would get, and what people decided.
    counts: Vec<BacktestCount>,
    /// How the machine's original verdicts agree with what people decided.
    agreement_before: Vec<BacktestAgreement>,
    /// How the replayed verdicts agree with what people decided.
    agreement_after: Vec<BacktestAgreement>,
}

/// The number of items with the same statuses and decision.
#[derive(Serialize, Schema)]
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
#[derive(Serialize, Schema)]
struct BacktestAgreement {
    /// The kind of verdict: `rejected`, `pending_review`, or `stopped`, which means either of them.
    kind: String,
    /// The number of items with such a verdict.
    items: u64,
    /// Of these, the number of items that people rejected.
    rejected_by_people: u64,
    /// The share of these items that people rejected, from 0 to 1. `null` if there are no such items.
    #[schema(nullable)]
    precision: Option<f64>,
    /// Of all items that people rejected, the share that had such a verdict, from 0 to 1. `null` if people rejected none.
    #[schema(nullable)]
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
#[derive(Serialize, Schema)]
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

/// A replay of rules over items that were judged before.
#[derive(Serialize, Schema)]
pub(crate) struct Backtest {
    /// The ID of the backtest.
    id: Uuid,
    /// The team whose items are replayed.
    team_id: Uuid,
    /// The group that is tried.
    rule_group_id: Uuid,
    /// The version of the group. `null` means the draft as it was.
    #[schema(nullable)]
    version_id: Option<Uuid>,
    /// The site whose items are replayed. `null` means all sites of the team.
    #[schema(nullable)]
    site_id: Option<Uuid>,
    /// Only items accepted at this time or later. `null` means no limit.
    #[schema(nullable)]
    since: Option<Field<Time>>,
    /// Only items accepted before this time.
    until: Field<Time>,
    /// The state of the backtest.
    state: Field<State>,
    /// How many items it will look at.
    total: i64,
    /// How many items it has looked at: the sum of the next five numbers.
    looked_at: i64,
    /// Items that were judged again.
    judged: i64,
    /// Items that the group does not judge.
    of_other_groups: i64,
    /// Items that have no verdict yet.
    undecided: i64,
    /// Items whose content is not stored any more, so that nothing can be judged.
    without_content: i64,
    /// Items that were never analysed, although the rules ask for scores.
    without_scores: i64,
    /// Of the items that were judged again, those that would get another status.
    changed: i64,
    /// Why it failed. `null` if it has not failed.
    #[schema(nullable)]
    error: Option<String>,
    /// The token that started it.
    #[schema(nullable)]
    created_by: Option<Uuid>,
    /// When it was started.
    created_at: Field<Time>,
    /// When it ended. `null` while it runs.
    #[schema(nullable)]
    ended_at: Option<Field<Time>>,
}

impl From<backtest::Backtest> for Backtest {
    fn from(backtest: backtest::Backtest) -> Self {
        Self {
            id: backtest.id.as_uuid(),
            team_id: backtest.team.as_uuid(),
            rule_group_id: backtest.group.as_uuid(),
            version_id: backtest.version.map(GroupVersionId::as_uuid),
            site_id: backtest.site.map(SiteId::as_uuid),
            since: backtest.since.map(Field::from),
            until: backtest.until.into(),
            state: Field(backtest.state),
            total: backtest.total,
            looked_at: backtest.looked_at,
            judged: backtest.judged,
            of_other_groups: backtest.of_other_groups,
            undecided: backtest.undecided,
            without_content: backtest.without_content,
            without_scores: backtest.without_scores,
            changed: backtest.changed,
            error: backtest.error,
            created_by: backtest.created_by.map(ActorId::as_uuid),
            created_at: backtest.created_at.into(),
            ended_at: backtest.ended_at.map(Field::from),
        }
    }
}

pub(crate) fn example() -> Value {
    json!({
        "id": "01980f6d-15aa-7bbb-8ccc-0123456789ab",
        "team_id": example_values::TEAM,
        "rule_group_id": example_values::RULE_GROUP,
        "version_id": null,
        "site_id": example_values::SITE,
        "since": "2026-01-01T00:00:00.000000Z",
        "until": example_values::CREATED_AT,
        "state": "running",
        "total": 1_000,
        "looked_at": 400,
        "judged": 390,
        "of_other_groups": 0,
        "undecided": 1,
        "without_content": 9,
        "without_scores": 0,
        "changed": 12,
        "error": null,
        "created_by": example_values::TOKEN,
        "created_at": example_values::CREATED_AT,
        "ended_at": null,
    })
}

pub(crate) fn full_example() -> Value {
    let kind = |kind: &str, items: u64, both: u64, precision: Option<f64>, recall: f64| {
        json!({
            "kind": kind,
            "items": items,
            "rejected_by_people": both,
            "precision": precision,
            "recall": recall,
        })
    };
    let mut report = example();
    extend(
        &mut report,
        "",
        json!({
            "counts": [
                { "old_status": "approved", "new_status": "approved", "decided": "nobody", "items": 378 },
                { "old_status": "pending_review", "new_status": "rejected", "decided": "rejected", "items": 9 },
                { "old_status": "pending_review", "new_status": "rejected", "decided": "approved", "items": 3 },
            ],
            "agreement_before": [
                kind("rejected", 0, 0, None, 0.0),
                kind("pending_review", 12, 9, Some(0.75), 1.0),
                kind("stopped", 12, 9, Some(0.75), 1.0),
            ],
            "agreement_after": [
                kind("rejected", 12, 9, Some(0.75), 1.0),
                kind("pending_review", 0, 0, None, 0.0),
                kind("stopped", 12, 9, Some(0.75), 1.0),
            ],
        }),
    );
    report
}

pub(crate) fn change_example() -> Value {
    json!({
        "media_id": example_values::MEDIA,
        "old_status": "pending_review",
        "new_status": "rejected",
        "decided": "rejected",
        "violated_rules": [example_values::RULE],
    })
}
