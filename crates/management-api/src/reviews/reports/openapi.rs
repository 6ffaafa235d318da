//! The OpenAPI descriptions of the reports: scopes, problems and examples.

use api_common::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::{Operation, example_values};

/// What the document says beyond the signatures.
pub(in crate::reviews) fn descriptions() -> Vec<Operation> {
    vec![
        Operation::new("getReviewQuality", Scope::ReviewsManage)
            .problems(&[Code::NotFound])
            .answer(quality()),
        Operation::new("downloadReviewQuality", Scope::ReviewsManage)
            .problems(&[Code::NotFound]),
        Operation::new("getReviewExposure", Scope::ReviewsRead)
            .answer(json!({
                "from": "2026-01-01",
                "to": "2026-01-31",
                "is_complete": true,
                "data": [{ "id": example_values::PERSON, "name": "Ada", "day": "2026-01-31", "decided": 212, "unveiled": 31 }],
            })),
    ]
}

fn quality() -> Value {
    let nothing = share(0, 0, None);
    let policy = json!({ "id": example_values::POLICY, "code": "hate", "name": "Hate" });
    let backlog =
        json!({ "reviews": 12, "overdue": 1, "oldest_waiting_since": example_values::CREATED_AT });
    let speed = json!({
        "p50_seconds": 412.5,
        "p90_seconds": 3120.0,
        "p99_seconds": 9000.25,
        "in_time": share(19, 20, Some((0.95, 0.764, 0.991))),
    });
    let agreement = json!({
        "two_people": 30,
        "audits": 20,
        "agreed": share(35, 50, Some((0.7, 0.562, 0.809))),
        "kappa": 0.4,
        "kappa_low": 0.15,
        "kappa_high": 0.65,
    });
    let overturned = json!({
        "total": share(1, 20, Some((0.05, 0.009, 0.236))),
        "audits": share(1, 20, Some((0.05, 0.009, 0.236))),
        "appeals": nothing,
        "elsewhere": nothing,
    });
    let point = json!({
        "threshold": 0.5,
        "precision": share(15, 20, Some((0.75, 0.531, 0.888))),
        "recall": share(15, 20, Some((0.75, 0.531, 0.888))),
    });
    let curve = json!({
        "rejected": share(20, 50, Some((0.4, 0.276, 0.538))),
        "points": [point],
        "review": point,
        "reject": null,
    });
    json!({
        "site_id": null,
        "from": "2026-01-01T00:00:00.000000Z",
        "to": "2026-01-31T00:00:00.000000Z",
        "counted": 260,
        "is_complete": true,
        "waiting": {
            "by_site": [{ "site_id": example_values::SITE, "site_name": "Community forum", "backlog": backlog }],
            "by_policy": [{ "policy": policy, "backlog": backlog }],
            "is_complete": true,
        },
        "time_to_decision": speed,
        "time_to_decision_by_severity": [{ "severity": "high", "time_to_decision": speed }],
        "people": [{
            "id": example_values::PERSON,
            "name": "Ada",
            "decisions": 260,
            "approved": 180,
            "rejected": 80,
            "hours": [0, 0, 0, 0, 0, 0, 0, 0, 40, 60, 60, 50, 50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            "golden": share(19, 20, Some((0.95, 0.764, 0.991))),
        }],
        "agreement": agreement,
        "agreement_by_policy": [{ "policy": policy, "agreement": agreement }],
        "overturned": overturned,
        "overturned_by_policy": [{ "policy": policy, "overturned": overturned }],
        "golden": share(19, 20, Some((0.95, 0.764, 0.991))),
        "machine": {
            "items": 50,
            "is_complete": true,
            "groups_left_out": 0,
            "thresholds": [{
                "rule_group_id": example_values::RULE_GROUP,
                "rule_group_name": "Forum rules",
                "rule_id": example_values::RULE,
                "rule_name": "hate",
                "category": "hate",
                "review_at": 0.5,
                "reject_at": null,
                "overall": curve,
                "by_provider": [{ "provider": "openai", "curve": curve }],
            }],
            "matches": [{
                "rule_id": example_values::RULE,
                "rule_name": "hate",
                "rule_type": "ai_threshold",
                "rejected": share(15, 20, Some((0.75, 0.531, 0.888))),
            }],
        },
    })
}

fn share(count: u64, of: u64, share: Option<(f64, f64, f64)>) -> Value {
    json!({
        "count": count,
        "of": of,
        "share": share.map(|share| share.0),
        "low": share.map(|share| share.1),
        "high": share.map(|share| share.2),
    })
}
