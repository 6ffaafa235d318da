//! Examples of backtests and their reports.

use api_common::openapi::extend;
use serde_json::{Value, json};

use crate::openapi::example_values;

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
