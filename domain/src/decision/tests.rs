//! The decision table, and what a verdict tells.

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::{
    media::Modality,
    rules::{RuleType, View},
};

fn content(effect: RuleEffect) -> Violation {
    Violation {
        rule_id: RuleId::from(Uuid::nil()),
        rule_name: "terms".to_owned(),
        rule_type: RuleType::Keyword,
        effect,
        confidence: 1.0,
        details: "The text contains a term of this rule.".to_owned(),
        matched_text: Some("b*********d".to_owned()),
        evidence: Evidence::Text {
            group: RuleGroupId::from(Uuid::nil()),
            view: View::Folded,
            span: 0..11,
        },
    }
}

fn scored(effect: RuleEffect, category: Category) -> Violation {
    Violation {
        rule_name: "scores".to_owned(),
        rule_type: RuleType::AiThreshold,
        confidence: 0.8,
        matched_text: None,
        evidence: Evidence::Score {
            group: RuleGroupId::from(Uuid::nil()),
            category,
            score: 0.8,
            threshold: 0.5,
        },
        ..content(effect)
    }
}

/// A text that was examined, with an analysis that found nothing.
fn findings(violations: Vec<Violation>) -> Findings<'static> {
    Findings {
        groups: vec![Judged {
            group: RuleGroupId::from(Uuid::nil()),
            version: GroupVersionId::from(Uuid::max()),
            micros: 41,
        }],
        violations,
        scores: Some([(Category::Violence, 0.8)].into_iter().collect()),
        wanted: &[],
        gaps: &[],
        text: Part::Examined,
        image: Part::Absent,
        unchecked: Vec::new(),
        on_failure: OnFailure::Review,
    }
}

fn failed() -> Vec<Unchecked> {
    vec![Unchecked::ProviderFailed {
        provider: "openai".to_owned(),
        modality: Modality::Text,
        detail: "connect to 10.0.0.7 refused".to_owned(),
    }]
}

#[test]
fn the_severest_effect_decides() {
    let (reject, review) = (RuleEffect::Reject, RuleEffect::Review);
    let hate = Category::Hate;
    for (violations, status, by) in [
        (vec![], Status::Approved, ModerationType::Ai),
        (
            vec![content(review)],
            Status::PendingReview,
            ModerationType::Rule,
        ),
        (
            vec![scored(review, hate)],
            Status::PendingReview,
            ModerationType::Ai,
        ),
        (
            vec![content(review), scored(reject, hate)],
            Status::Rejected,
            ModerationType::Ai,
        ),
        (
            vec![scored(review, hate), content(reject)],
            Status::Rejected,
            ModerationType::Rule,
        ),
        (
            vec![scored(reject, hate), content(reject)],
            Status::Rejected,
            ModerationType::Rule,
        ),
    ] {
        let verdict = decide(findings(violations.clone()));
        assert_eq!(
            (verdict.status, verdict.moderation_type),
            (status, by),
            "{violations:?}"
        );
        assert_eq!(verdict.violations, violations);
    }
}

#[test]
fn without_an_analysis_rules_decided() {
    let verdict = decide(Findings {
        scores: None,
        ..findings(vec![])
    });
    assert_eq!(
        (verdict.status, verdict.moderation_type),
        (Status::Approved, ModerationType::Rule)
    );
    assert_eq!(verdict.ai_analysis, None);
}

#[test]
fn a_wanted_category_that_a_provider_left_out_is_unchecked_and_one_that_nobody_lists_is_told() {
    use Category::{Adult, Spam, Violence};
    let gap = |modality, unscored: &[Category], left_out: &[Category]| Gap {
        modality,
        unscored: unscored.to_vec(),
        left_out: left_out.to_vec(),
    };
    let of = |gaps: &[Gap]| {
        decide(Findings {
            wanted: &[Adult, Violence, Spam],
            gaps,
            image: Part::Examined,
            ..findings(vec![])
        })
    };
    // In whatever order they were asked for.
    let image = gap(Modality::Image, &[Spam, Adult], &[Adult]);
    let verdict = of(&[gap(Modality::Text, &[], &[]), image]);
    assert_eq!(verdict.status, Status::PendingReview);
    assert_eq!(
        verdict.reason.unwrap(),
        "Not checked: no provider scored the image for `adult`."
    );
    assert_eq!(verdict.trace.unscored, [Adult, Spam]);
    let told_apart = verdict.trace.unscored_of.unwrap();
    assert_eq!(
        (told_apart.text, told_apart.image),
        (vec![], vec![Adult, Spam])
    );

    // What no rule asks for is nothing to the verdict.
    let verdict = of(&[gap(
        Modality::Text,
        &[Spam, Category::Hate],
        &[Category::Hate],
    )]);
    assert_eq!(verdict.status, Status::Approved);
    assert_eq!(verdict.trace.unscored, [Spam]);
}

#[test]
fn what_is_unchecked_follows_the_sites_wish_and_hides_no_rule() {
    use OnFailure::{Approve, Reject, Review};
    let content_review = || vec![content(RuleEffect::Review)];
    let content_reject = || vec![content(RuleEffect::Reject)];
    for (violations, on_failure, status) in [
        (vec![], Review, Status::PendingReview),
        (vec![], Reject, Status::Rejected),
        (vec![], Approve, Status::Approved),
        (content_review(), Review, Status::PendingReview),
        (content_review(), Reject, Status::Rejected),
        (content_review(), Approve, Status::PendingReview),
        (content_reject(), Review, Status::Rejected),
        (content_reject(), Approve, Status::Rejected),
    ] {
        let rejects = violations.iter().any(|v| v.effect == RuleEffect::Reject);
        let verdict = decide(Findings {
            unchecked: failed(),
            on_failure,
            ..findings(violations)
        });
        assert_eq!(verdict.status, status, "{on_failure:?}");
        if !rejects {
            let reason = verdict.reason.unwrap();
            assert!(
                reason.contains("Not checked: the analysis by `openai` failed."),
                "{reason}"
            );
            assert!(!reason.contains("10.0.0.7"), "{reason}");
        }
    }
}

#[test]
fn nothing_is_approved_because_nobody_looked() {
    for (text, image, expected) in [
        (Part::Unexamined, Part::Absent, "examined the text"),
        (Part::Absent, Part::Unexamined, "examined the image"),
        (Part::Examined, Part::Unexamined, "examined the image"),
    ] {
        let verdict = decide(Findings {
            text,
            image,
            scores: None,
            ..findings(vec![])
        });
        assert_eq!(verdict.status, Status::PendingReview);
        assert!(verdict.reason.unwrap().contains(expected));
        assert_eq!(verdict.trace.unchecked.len(), 1);
    }
}

#[test]
fn an_image_that_could_not_be_had_is_named_once() {
    let problem = Unchecked::ImageNotAnalysed {
        problem: ImageProblem::NotFetched,
    };
    let verdict = decide(Findings {
        image: Part::Unexamined,
        unchecked: vec![problem.clone()],
        ..findings(vec![])
    });
    assert_eq!(verdict.trace.unchecked, [problem]);
    assert_eq!(
        verdict.reason.unwrap(),
        "Not checked: the image could not be fetched."
    );
}

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
fn a_category_that_nothing_can_score_is_traced_and_not_unchecked() {
    let wanted = [Category::Violence, Category::Spam];
    let verdict = decide(Findings {
        wanted: &wanted,
        ..findings(vec![])
    });
    assert_eq!(verdict.status, Status::Approved);
    assert_eq!(verdict.trace.unscored, [Category::Spam]);
    let nothing = decide(Findings {
        wanted: &wanted,
        scores: None,
        unchecked: vec![Unchecked::TextNotScored],
        ..findings(vec![])
    });
    assert_eq!(nothing.trace.unscored, wanted);
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
