//! Content that was not checked follows the site's setting, and hides no rule.

use super::*;

#[test]
fn a_wanted_category_that_a_provider_left_out_is_unchecked_and_one_that_nobody_lists_is_told() {
    use Category::{Adult, Spam, Violence};
    let missing = |modality, unscored: &[Category], left_out: &[Category]| MissingScores {
        modality,
        unscored: unscored.to_vec(),
        left_out: left_out.to_vec(),
    };
    let of = |gaps: &[MissingScores]| {
        decide(Findings {
            wanted: &[Adult, Violence, Spam],
            gaps,
            image: Part::Examined,
            ..findings(vec![])
        })
    };
    // In any order.
    let image = missing(Modality::Image, &[Spam, Adult], &[Adult]);
    let verdict = of(&[missing(Modality::Text, &[], &[]), image]);
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

    // A category that no rule asks for does not change the verdict.
    let verdict = of(&[missing(
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
