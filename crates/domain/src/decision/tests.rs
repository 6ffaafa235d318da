//! The decision table: which violations and settings lead to which status.

mod told;
mod unchecked;

use uuid::Uuid;

use super::*;
use crate::{
    id::{GroupVersionId, RuleGroupId, RuleId},
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
