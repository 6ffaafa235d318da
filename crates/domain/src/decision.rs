//! The decision: turns what the rules found, what the analysis said and what could not be checked
//! into a verdict.
//!
//! No item is approved because nobody checked it. A part of the content that no rule and no
//! provider examined counts as unchecked here, whatever the caller reports, and follows the site's
//! [`OnFailure`].

mod findings;
mod manual_decision;
mod missing_scores;
mod reason;
mod unchecked;
mod verdict;

pub use findings::{Findings, Judged, Part};
pub use manual_decision::{Found, ManualDetails};
pub use missing_scores::{MissingScores, Unscored};
pub use unchecked::{ImageProblem, Unchecked};
pub use verdict::{ModerationDetails, Trace, TracedViolation, Verdict};

use self::reason::reason;
use crate::media::{ModerationType, OnFailure, Status};
use crate::rules::{Evidence, RuleEffect, Violation};
use crate::score::{Category, Scores};

/// Decides. Any `reject` rejects. Otherwise, anything unchecked follows the site's setting, which
/// never hides a `review` that a rule requested. Otherwise, any `review` asks for a person.
/// Otherwise, the content is approved.
pub fn decide(findings: Findings<'_>) -> Verdict {
    let Findings {
        groups,
        violations,
        scores,
        wanted,
        gaps,
        text,
        image,
        mut unchecked,
        on_failure,
    } = findings;
    for missing in gaps {
        missing.add_unchecked(wanted, &mut unchecked);
    }
    if text == Part::Unexamined {
        unchecked.push(Unchecked::TextNotExamined);
    }
    if image == Part::Unexamined && !unchecked.iter().any(Unchecked::concerns_image) {
        unchecked.push(Unchecked::ImageNotExamined);
    }

    let asks = |effect| {
        violations
            .iter()
            .any(|violation| violation.effect == effect)
    };
    let unsure = (!unchecked.is_empty()).then_some(on_failure);
    let (status, deciding) = match (asks(RuleEffect::Reject), unsure, asks(RuleEffect::Review)) {
        (true, _, _) => (Status::Rejected, Some(RuleEffect::Reject)),
        (false, Some(OnFailure::Reject), _) => (Status::Rejected, None),
        (false, _, true) => (Status::PendingReview, Some(RuleEffect::Review)),
        (false, Some(OnFailure::Review), false) => (Status::PendingReview, None),
        (false, Some(OnFailure::Approve) | None, false) => (Status::Approved, None),
    };

    let by_content_rule = violations
        .iter()
        .any(|violation| Some(violation.effect) == deciding && violation.rule_type.is_content());
    let moderation_type = if by_content_rule || scores.is_none() {
        ModerationType::Rule
    } else {
        ModerationType::Ai
    };
    let reason = reason(deciding, &violations, &unchecked);
    let flagged_categories = match status {
        Status::PendingReview => flagged(&violations),
        Status::Pending | Status::Approved | Status::Rejected => Vec::new(),
    };
    let unscored_of = (!gaps.is_empty()).then(|| Unscored::of(gaps, wanted));
    let trace = Trace {
        groups,
        evidence: violations.iter().map(TracedViolation::from).collect(),
        unscored: match &unscored_of {
            Some(told_apart) => told_apart.all(),
            None => unscored(wanted, scores.as_ref(), &unchecked),
        },
        unscored_of,
        unchecked,
    };
    Verdict {
        status,
        moderation_type,
        violations,
        ai_analysis: scores,
        flagged_categories,
        reason,
        trace,
    }
}

fn flagged(violations: &[Violation]) -> Vec<Category> {
    Category::ALL
        .into_iter()
        .filter(|category| {
            violations
                .iter()
                .any(|violation| match &violation.evidence {
                    Evidence::Score {
                        category: scored, ..
                    } => scored == category,
                    Evidence::Text { .. } | Evidence::Hash { .. } => false,
                })
        })
        .collect()
}

fn unscored(
    wanted: &[Category],
    scores: Option<&Scores>,
    unchecked: &[Unchecked],
) -> Vec<Category> {
    let failed = |unchecked: &Unchecked| matches!(unchecked, Unchecked::ProviderFailed { .. });
    if scores.is_none() && unchecked.iter().any(failed) {
        // The failed provider could have scored them.
        return Vec::new();
    }
    let is_scored = |category| scores.is_some_and(|scores| scores.get(category).is_some());
    wanted
        .iter()
        .copied()
        .filter(|category| !is_scored(*category))
        .collect()
}

#[cfg(test)]
mod tests;
