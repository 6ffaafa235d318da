//! The OpenAPI descriptions of statistics: scopes, problems and examples.

use api_common::problem::Code;
use domain::scope::Scope;
use serde_json::{Value, json};

use crate::openapi::{Operation, example_values};

pub(crate) fn descriptions() -> Vec<Operation> {
    let report = json!({
        "site_id": example_values::SITE,
        "from": "2026-01-31T00:00:00.000000Z",
        "to": "2026-02-01T00:00:00.000000Z",
        "interval": "day",
        "counted_until": "2026-02-01T09:14:05.123456Z",
        "history_counted": true,
        "totals": figures(),
        "buckets": [{ "start": "2026-01-31T00:00:00.000000Z", "figures": figures() }],
        "top_rules": [{
            "rule_group_id": example_values::RULE_GROUP,
            "rule_id": example_values::RULE,
            "rule_name": "No insults",
            "matches": 37,
        }],
        "other_rule_matches": 0,
    });
    vec![Operation {
        problems: &[Code::NotFound],
        answer: Some(report),
        ..Operation::new("getStatistics", Scope::MediaRead)
    }]
}

fn figures() -> Value {
    let outcomes = |approved, rejected, pending_review| json!({ "approved": approved, "rejected": rejected, "pending_review": pending_review });
    json!({
        "accepted": 4_711,
        "verdicts": {
            "rules": outcomes(120, 31, 6),
            "providers": outcomes(4_402, 84, 61),
            "moderators": outcomes(40, 22, 0),
            "failure_policy": outcomes(0, 0, 7),
        },
        "reviews": { "opened": 74, "decided": 62, "waited_seconds": 18_600.5 },
        "webhooks": { "delivered": 9_404, "failed_attempts": 18, "exhausted": 0, "discarded": 0 },
    })
}
