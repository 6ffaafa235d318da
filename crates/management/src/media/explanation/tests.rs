use chrono::Utc;
use domain::{
    decision::{Findings, ImageProblem, Part, decide},
    rules::{View, Violation},
};
use serde_json::{json, value::to_raw_value};
use uuid::Uuid;

use super::*;

fn violation(name: &str, effect: RuleEffect) -> Violation {
    Violation {
        rule_id: Uuid::now_v7().into(),
        rule_name: name.to_owned(),
        rule_type: RuleType::Keyword,
        effect,
        confidence: 1.0,
        details: "A keyword was found.".to_owned(),
        matched_text: None,
        evidence: Evidence::Text {
            group: Uuid::now_v7().into(),
            view: View::Loose,
            span: 2..5,
        },
    }
}

/// What is stored after the machine has decided about a text with an image.
fn stored(violations: Vec<Violation>, unchecked: Vec<Unchecked>, on_failure: OnFailure) -> Verdict {
    let decided = decide(Findings {
        groups: Vec::new(),
        violations,
        scores: Some([(Category::Spam, 0.7)].into_iter().collect()),
        wanted: &[Category::Spam],
        gaps: &[],
        text: Part::Examined,
        image: Part::Absent,
        unchecked,
        on_failure,
    });
    Verdict {
        number: 1,
        status: decided.status,
        previous_status: Status::Pending,
        moderation_type: decided.moderation_type,
        details: to_raw_value(&decided.details(Some(12))).unwrap(),
        trace: to_raw_value(&decided.trace).unwrap(),
        moderated_at: Utc::now(),
    }
}

#[test]
fn what_decided_is_read_from_what_the_machine_stored() {
    let failed = || {
        vec![Unchecked::ImageNotAnalysed {
            problem: ImageProblem::NotFetched,
        }]
    };
    let (reject, review) = (RuleEffect::Reject, RuleEffect::Review);
    for (effects, unchecked, on_failure, ground) in [
        (vec![], vec![], OnFailure::Review, Ground::Nothing),
        (
            vec![review, reject],
            failed(),
            OnFailure::Approve,
            Ground::Rules(reject),
        ),
        (
            vec![review],
            failed(),
            OnFailure::Review,
            Ground::Rules(review),
        ),
        (
            vec![review],
            failed(),
            OnFailure::Reject,
            Ground::OnFailure(OnFailure::Reject),
        ),
        (
            vec![],
            failed(),
            OnFailure::Review,
            Ground::OnFailure(OnFailure::Review),
        ),
        (
            vec![],
            failed(),
            OnFailure::Approve,
            Ground::OnFailure(OnFailure::Approve),
        ),
    ] {
        let violations = effects.iter().map(|effect| violation("Contact", *effect));
        let verdict = stored(violations.collect(), unchecked.clone(), on_failure);
        let why = of(&verdict).unwrap();
        assert_eq!(why.ground, ground);
        assert_eq!(why.unchecked, unchecked);
        let found: Vec<_> = why.found.iter().filter_map(|rule| rule.effect).collect();
        assert_eq!(found, effects);
        assert!(why.found.iter().all(|rule| rule.evidence.is_some()));
        assert_eq!(why.scores.unwrap().get(Category::Spam), Some(0.7));
        assert_eq!(why.processing_time_ms, Some(12));
    }
}

#[test]
fn a_person_and_a_dead_job_are_told_apart_from_rules() {
    let with = |moderation_type, details, trace| Verdict {
        status: Status::PendingReview,
        moderation_type,
        details: to_raw_value(&details).unwrap(),
        trace: to_raw_value(&trace).unwrap(),
        ..stored(Vec::new(), Vec::new(), OnFailure::Review)
    };
    let person = with(
        ModerationType::Manual,
        json!({ "rule_violations": [], "reason": "Satire." }),
        json!({ "moderator": { "member_id": Uuid::nil(), "member_name": "Ada" }, "reason": "Satire." }),
    );
    let ground = Ground::Person {
        name: Some("Ada".to_owned()),
        reason: "Satire.".to_owned(),
    };
    assert_eq!(of(&person).unwrap().ground, ground);
    let dead = with(
        ModerationType::Rule,
        json!({ "rule_violations": [], "reason": "the rules could not be evaluated" }),
        json!({ "job": 7, "cause": "panicked" }),
    );
    assert_eq!(of(&dead).unwrap().ground, Ground::NotEvaluated);
    let unknown = with(
        ModerationType::Rule,
        json!({ "rule_violations": [{ "rule_type": "of tomorrow" }] }),
        json!({}),
    );
    assert!(of(&unknown).is_none());
}
