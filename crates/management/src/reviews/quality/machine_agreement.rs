//! How the machine compares with people, over items that people decided.
//!
//! People see few of the items that the machine is sure about, so these figures say nothing about those.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    precision_recall::{Point, points, steps},
    proportion::Proportion,
    score::{Category, Scores},
};
use store::review::quality::{Compared, Matches, ThresholdRule};

use super::{ITEMS, RULES};

/// Providers that are told apart.
const PROVIDERS: usize = 10;

/// How the machine compares with people.
#[derive(Debug)]
pub struct Machine {
    /// How many items were compared.
    pub items: usize,
    /// Whether these are all items of the span, and whether all rules with thresholds are listed.
    pub is_complete: bool,
    /// Rule groups whose live version is too large to look through.
    pub left_out: i64,
    /// The rules with thresholds.
    pub rules: Vec<RuleCurves>,
    /// How often people rejected what a rule had matched.
    pub matched: Vec<MatchedRule>,
}

/// A rule with thresholds, and how well others would have done.
#[derive(Debug)]
pub struct RuleCurves {
    /// The rule, and its present thresholds.
    pub rule: ThresholdRule,
    /// With the score that the rule looks at: the highest of any provider.
    pub overall: Curve,
    /// With the score of each provider alone.
    pub by_provider: Vec<(String, Curve)>,
}

/// What thresholds would have found.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Items that were judged by the rule's group and have the score, and how many of them people rejected.
    pub items: Proportion,
    /// The thresholds .05 to .95.
    pub steps: Vec<Point>,
    /// The rule's present thresholds: the one for review, and the one for rejection.
    pub review: Option<Point>,
    /// See above.
    pub reject: Option<Point>,
}

/// How often people rejected what a rule had matched.
#[derive(Clone, Debug)]
pub struct MatchedRule {
    /// The rule.
    pub rule: Matches,
    /// Items that it had matched, and how many of them people rejected.
    pub agreed: Proportion,
}

/// An item by provider.
struct Item {
    compared: Compared,
    by_provider: BTreeMap<String, Scores>,
}

impl Machine {
    pub(super) fn of(
        mut compared: Vec<Compared>,
        mut rules: Vec<ThresholdRule>,
        left_out: i64,
        matches: Vec<Matches>,
    ) -> Self {
        let most_rules = usize::try_from(RULES).unwrap_or(usize::MAX);
        let is_complete = compared.len() <= ITEMS && rules.len() <= most_rules && left_out == 0;
        compared.truncate(ITEMS);
        rules.truncate(most_rules);
        let items: Vec<Item> = compared.into_iter().map(Item::new).collect();
        let providers: BTreeSet<&String> = items
            .iter()
            .flat_map(|item| item.by_provider.keys())
            .collect();
        let providers: Vec<&String> = providers.into_iter().take(PROVIDERS).collect();
        Self {
            items: items.len(),
            is_complete,
            left_out,
            rules: rules
                .into_iter()
                .map(|rule| RuleCurves::of(rule, &items, &providers))
                .collect(),
            matched: matches.into_iter().map(MatchedRule::new).collect(),
        }
    }
}

impl Item {
    fn new(mut compared: Compared) -> Self {
        let mut by_provider: BTreeMap<String, Scores> = BTreeMap::new();
        for (provider, scores) in compared.by_provider.drain(..) {
            by_provider.entry(provider).or_default().merge_max(&scores);
        }
        Self {
            compared,
            by_provider,
        }
    }
}

impl RuleCurves {
    fn of(rule: ThresholdRule, items: &[Item], providers: &[&String]) -> Self {
        let judged: Vec<&Item> = items
            .iter()
            .filter(|item| item.compared.groups.contains(&rule.group))
            .collect();
        let category = rule.category;
        let overall = judged
            .iter()
            .filter_map(|item| scored(item, item.compared.scores.as_ref(), category));
        let overall = Curve::of(&rule, overall);
        let by_provider = providers
            .iter()
            .map(|provider| {
                let pairs = judged
                    .iter()
                    .filter_map(|item| scored(item, item.by_provider.get(*provider), category));
                ((*provider).clone(), Curve::of(&rule, pairs))
            })
            .filter(|(_, curve)| curve.items.of > 0)
            .collect();
        Self {
            rule,
            overall,
            by_provider,
        }
    }
}

fn scored(item: &Item, scores: Option<&Scores>, category: Category) -> Option<(f64, bool)> {
    Some((scores?.get(category)?, item.compared.is_rejected))
}

impl Curve {
    fn of(rule: &ThresholdRule, pairs: impl Iterator<Item = (f64, bool)>) -> Self {
        let mut items = Proportion::default();
        let pairs = pairs.inspect(|(_, is_rejected)| items.add(*is_rejected));
        let steps = steps();
        let own = [rule.review_at, rule.reject_at];
        let thresholds: Vec<f64> = steps.into_iter().chain(own.into_iter().flatten()).collect();
        let all = points(&thresholds, pairs);
        let at = |threshold: f64| {
            let mut found = all.iter();
            found
                .find(|point| point.threshold.total_cmp(&threshold).is_eq())
                .copied()
        };
        Self {
            steps: steps.into_iter().filter_map(at).collect(),
            review: rule.review_at.and_then(at),
            reject: rule.reject_at.and_then(at),
            items,
        }
    }
}

impl MatchedRule {
    fn new(rule: Matches) -> Self {
        let agreed = Proportion {
            hits: rule.rejected.unsigned_abs(),
            of: rule.matched.unsigned_abs(),
        };
        Self { rule, agreed }
    }
}
