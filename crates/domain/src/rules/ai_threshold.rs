//! The rule kind `ai_threshold`: a category's score reaches a threshold.

use serde::{Deserialize, Serialize};

use super::{Evidence, RuleEffect, RuleType, Violation, error::RuleErrorList};
use crate::{
    id::{RuleGroupId, RuleId},
    score::{Category, Scores},
};

/// Thresholds on one category's score. At least one is given, and `review_at` is at most
/// `reject_at`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AiThreshold {
    /// The category.
    pub category: Category,
    /// With this score or a higher one, a person must look at it. From 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review_at: Option<f64>,
    /// With this score or a higher one, it is rejected. From 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reject_at: Option<f64>,
}

impl AiThreshold {
    pub(super) fn check(&self, errors: &mut RuleErrorList<'_>) {
        for (field, threshold) in [("review_at", self.review_at), ("reject_at", self.reject_at)] {
            if threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
                errors.add(field, "must be from 0 to 1");
            }
        }
        match (self.review_at, self.reject_at) {
            (None, None) => errors.add("review_at", "`review_at` or `reject_at` is required"),
            (Some(review), Some(reject)) if review > reject => {
                errors.add("review_at", "must not be greater than `reject_at`");
            }
            (Some(_), _) | (_, Some(_)) => {}
        }
    }

    /// The threshold that a score reaches. If it reaches both, the severer one.
    fn reached(&self, score: f64) -> Option<(RuleEffect, f64)> {
        let reached = |threshold: &f64| score >= *threshold;
        self.reject_at
            .filter(reached)
            .map(|threshold| (RuleEffect::Reject, threshold))
            .or_else(|| {
                self.review_at
                    .filter(reached)
                    .map(|threshold| (RuleEffect::Review, threshold))
            })
    }
}

/// A compiled threshold rule.
pub(super) struct Threshold {
    pub(super) id: RuleId,
    pub(super) name: String,
    pub(super) rule: AiThreshold,
}

impl Threshold {
    /// The violation, if the category has a score that reaches a threshold.
    pub(super) fn examine(&self, group: RuleGroupId, scores: &Scores) -> Option<Violation> {
        let category = self.rule.category;
        let score = scores.get(category)?;
        let (effect, threshold) = self.rule.reached(score)?;
        let meaning = match effect {
            RuleEffect::Reject => "rejection",
            RuleEffect::Review => "review",
        };
        Some(Violation {
            rule_id: self.id,
            rule_name: self.name.clone(),
            rule_type: RuleType::AiThreshold,
            effect,
            confidence: score,
            details: format!(
                "The {category} score {score:.2} reached the threshold {threshold:.2} for {meaning}."
            ),
            matched_text: None,
            evidence: Evidence::Score {
                group,
                category,
                score,
                threshold,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_severer_threshold_wins_and_each_begins_at_its_value() {
        let both = AiThreshold {
            category: Category::Hate,
            review_at: Some(0.5),
            reject_at: Some(0.9),
        };
        let review_only = AiThreshold {
            reject_at: None,
            ..both.clone()
        };
        for (rule, score, expected) in [
            (&both, 0.499, None),
            (&both, 0.5, Some((RuleEffect::Review, 0.5))),
            (&both, 0.899, Some((RuleEffect::Review, 0.5))),
            (&both, 0.9, Some((RuleEffect::Reject, 0.9))),
            (&review_only, 1.0, Some((RuleEffect::Review, 0.5))),
        ] {
            assert_eq!(rule.reached(score), expected, "{score}");
        }
    }
}
