//! What a verdict reports: its reason, its details and its trace.

use serde_json::json;
use uuid::Uuid;

use super::*;

#[test]
fn review_names_its_rules_and_flags_its_categories() {
    let verdict = decide(findings(vec![
        scored(RuleEffect::Review, Category::Hate),
        scored(RuleEffect::Review, Category::Adult),
        content(RuleEffect::Review),
    ]));
    assert_eq!(
        verdict.flagged_categories,
        [Category::Adult, Category::Hate]
    );
    assert_eq!(
        verdict.reason.unwrap(),
        "Review requested by `scores`, `scores`, `terms`."
    );

    let many = decide(findings(vec![content(RuleEffect::Review); 8]));
    assert!(many.reason.unwrap().ends_with("`terms` and 3 more."));

    let rejected = decide(findings(vec![
        scored(RuleEffect::Review, Category::Adult),
        scored(RuleEffect::Reject, Category::Hate),
    ]));
    assert_eq!(rejected.flagged_categories, []);
    assert_eq!(rejected.reason, None);
}

#[test]
fn details_are_the_contracts_document() {
    let verdict = decide(findings(vec![content(RuleEffect::Reject)]));
    assert_eq!(
        serde_json::to_value(verdict.details(Some(12))).unwrap(),
        json!({
            "rule_violations": [{
                "rule_id": "00000000-0000-0000-0000-000000000000",
                "rule_name": "terms",
                "rule_type": "keyword",
                "confidence": 1.0,
                "details": "The text contains a term of this rule.",
                "matched_text": "b*********d",
            }],
            "ai_analysis": {"violence": 0.8},
            "processing_time_ms": 12,
        })
    );
    let verdict = decide(Findings {
        scores: None,
        ..findings(vec![scored(RuleEffect::Review, Category::Violence)])
    });
    assert_eq!(
        serde_json::to_value(verdict.details(None)).unwrap(),
        json!({
            "rule_violations": [{
                "rule_id": "00000000-0000-0000-0000-000000000000",
                "rule_name": "scores",
                "rule_type": "ai_threshold",
                "confidence": 0.8,
                "details": "The text contains a term of this rule.",
            }],
            "reason": "Review requested by `scores`.",
            "flagged_categories": ["violence"],
        })
    );
}

#[test]
fn the_trace_tells_where_and_why() {
    let verdict = decide(Findings {
        unchecked: failed(),
        ..findings(vec![
            content(RuleEffect::Review),
            scored(RuleEffect::Review, Category::Hate),
        ])
    });
    let (id, group, version) = (Uuid::nil(), Uuid::nil(), Uuid::max());
    assert_eq!(
        serde_json::to_value(&verdict.trace).unwrap(),
        json!({
            "groups": [{"group": group, "version": version, "micros": 41}],
            "evidence": [
                {"rule_id": id, "effect": "review", "evidence":
                    {"kind": "text", "group": group, "view": "folded", "span": {"start": 0, "end": 11}}},
                {"rule_id": id, "effect": "review", "evidence":
                    {"kind": "score", "group": group, "category": "hate", "score": 0.8, "threshold": 0.5}},
            ],
            "unchecked": [{"what": "provider_failed", "provider": "openai", "modality": "text", "detail": "connect to 10.0.0.7 refused"}],
            "unscored": [],
        })
    );
}
