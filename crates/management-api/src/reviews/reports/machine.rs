//! How the machine compares with people, in answers.

use api_common::{Field, Schema};
use domain::{precision_recall::Point, score::Category};
use management::reviews::quality::{Curve, Machine, MatchedRule, RuleCurves};
use serde::Serialize;
use uuid::Uuid;

use super::proportion::ReviewProportion;

/// How the machine compares with people, over items that people decided. Items that only the machine decided are not counted.
#[derive(Serialize, Schema)]
pub(super) struct ReviewMachine {
    /// How many items were compared.
    items: usize,
    /// Whether all items of the span were compared, and all rules with thresholds.
    is_complete: bool,
    /// Rule groups whose live version is too large to look through.
    groups_left_out: i64,
    /// The rules with thresholds in the live versions of the team's groups, at most 100.
    thresholds: Vec<ReviewThresholdRule>,
    /// How often people rejected what a rule had matched: the 100 rules that matched most often.
    matches: Vec<ReviewRuleMatches>,
}

/// A rule with thresholds, and what others would have found.
#[derive(Serialize, Schema)]
struct ReviewThresholdRule {
    /// Its group.
    rule_group_id: Uuid,
    /// The group's name.
    rule_group_name: String,
    /// The rule.
    rule_id: Uuid,
    /// The rule's name.
    rule_name: String,
    /// What it looks for.
    category: Field<Category>,
    /// The rule's threshold for review.
    #[schema(nullable)]
    review_at: Option<f64>,
    /// The rule's threshold for rejection.
    #[schema(nullable)]
    reject_at: Option<f64>,
    /// With the score that the rule looks at: the highest of any provider.
    overall: ReviewCurve,
    /// With the score of each provider alone, at most 10.
    by_provider: Vec<ReviewProviderCurve>,
}

/// What thresholds would have found with the scores of a provider.
#[derive(Serialize, Schema)]
struct ReviewProviderCurve {
    /// The provider's name.
    provider: String,
    /// What thresholds would have found.
    curve: ReviewCurve,
}

/// What thresholds would have found. An item is positive if people rejected it.
#[derive(Serialize, Schema)]
struct ReviewCurve {
    /// Items that the rule's group had judged and that have the score, and how many of them people rejected.
    rejected: ReviewProportion,
    /// The thresholds 0.05 to 0.95.
    points: Vec<ReviewCurvePoint>,
    /// The rule's threshold for review.
    #[schema(nullable)]
    review: Option<ReviewCurvePoint>,
    /// The rule's threshold for rejection.
    #[schema(nullable)]
    reject: Option<ReviewCurvePoint>,
}

/// What a threshold would have found.
#[derive(Serialize, Schema)]
struct ReviewCurvePoint {
    /// The threshold.
    threshold: f64,
    /// Of the items whose score reaches it, how many people rejected.
    precision: ReviewProportion,
    /// Of the items that people rejected, how many have a score that reaches it.
    recall: ReviewProportion,
}

/// How often people rejected what a rule had matched.
#[derive(Serialize, Schema)]
struct ReviewRuleMatches {
    /// The rule. It may be one of an earlier version.
    rule_id: Uuid,
    /// Its name when it matched last.
    rule_name: String,
    /// Its kind. `null` if this version does not know it.
    #[schema(nullable)]
    rule_type: Option<String>,
    /// Items that it had matched, and how many of them people rejected.
    rejected: ReviewProportion,
}

impl From<Machine> for ReviewMachine {
    fn from(machine: Machine) -> Self {
        Self {
            items: machine.items,
            is_complete: machine.is_complete,
            groups_left_out: machine.left_out,
            thresholds: machine.rules.into_iter().map(Into::into).collect(),
            matches: machine.matched.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<RuleCurves> for ReviewThresholdRule {
    fn from(curves: RuleCurves) -> Self {
        let rule = curves.rule;
        Self {
            rule_group_id: rule.group.as_uuid(),
            rule_group_name: rule.group_name,
            rule_id: rule.rule.as_uuid(),
            rule_name: rule.name,
            category: Field(rule.category),
            review_at: rule.review_at,
            reject_at: rule.reject_at,
            overall: curves.overall.into(),
            by_provider: curves
                .by_provider
                .into_iter()
                .map(|(provider, curve)| ReviewProviderCurve {
                    provider,
                    curve: curve.into(),
                })
                .collect(),
        }
    }
}

impl From<Curve> for ReviewCurve {
    fn from(curve: Curve) -> Self {
        Self {
            rejected: curve.items.into(),
            points: curve.steps.into_iter().map(Into::into).collect(),
            review: curve.review.map(Into::into),
            reject: curve.reject.map(Into::into),
        }
    }
}

impl From<Point> for ReviewCurvePoint {
    fn from(point: Point) -> Self {
        Self {
            threshold: point.threshold,
            precision: point.precision.into(),
            recall: point.recall.into(),
        }
    }
}

impl From<MatchedRule> for ReviewRuleMatches {
    fn from(matched: MatchedRule) -> Self {
        Self {
            rule_id: matched.rule.rule.as_uuid(),
            rule_name: matched.rule.name,
            rule_type: matched.rule.kind.map(|kind| kind.as_str().to_owned()),
            rejected: matched.agreed.into(),
        }
    }
}
