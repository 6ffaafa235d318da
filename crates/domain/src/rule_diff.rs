//! The differences between two versions of a rule group. Rules are identified by their ids, which
//! edits keep.

use std::collections::HashMap;

use crate::{id::RuleId, rules::Rule};

/// The differences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Rules that only the later version has, in its order.
    pub added: Vec<Rule>,
    /// Rules that only the earlier version has, in its order.
    pub removed: Vec<Rule>,
    /// Rules that both versions have but that differ, as (before, after), in the order of the later
    /// version.
    pub changed: Vec<(Rule, Rule)>,
    /// Rules that moved: the fewest that explain the whole change of order.
    pub moved: Vec<RuleId>,
}

impl Difference {
    /// From an earlier version to a later one. No id occurs twice in either.
    pub fn between(earlier: &[Rule], later: &[Rule]) -> Self {
        let places = |rules: &[Rule]| -> HashMap<RuleId, usize> {
            let places = rules.iter().enumerate();
            places.map(|(place, rule)| (rule.id, place)).collect()
        };
        let (before, after) = (places(earlier), places(later));
        let mut difference = Self::default();
        // The places in the earlier version of the common rules, in the order of the later version.
        let mut common = Vec::new();
        for rule in later {
            match before.get(&rule.id) {
                None => difference.added.push(rule.clone()),
                Some(place) => {
                    common.push(*place);
                    if earlier[*place] != *rule {
                        let changed = (earlier[*place].clone(), rule.clone());
                        difference.changed.push(changed);
                    }
                }
            }
        }
        difference.removed = earlier
            .iter()
            .filter(|rule| !after.contains_key(&rule.id))
            .cloned()
            .collect();
        let stay = longest_ascent(&common);
        difference.moved = common
            .iter()
            .filter(|place| stay.binary_search(place).is_err())
            .map(|place| earlier[*place].id)
            .collect();
        difference
    }
}

/// The longest ascending subsequence of numbers that are all different: what has not moved
/// (patience sorting).
fn longest_ascent(numbers: &[usize]) -> Vec<usize> {
    // For each length, the index of the least number that ends an ascent of this length; and for
    // each number, its predecessor.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(numbers.len());
    for (index, number) in numbers.iter().enumerate() {
        let length = ends.partition_point(|end| numbers[*end] < *number);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut ascent = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        ascent.push(numbers[index]);
        next = before[index];
    }
    ascent.reverse();
    ascent
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::rules::RuleBody;

    fn rule(id: u128, keyword: &str) -> Rule {
        let body: RuleBody = serde_json::from_value(serde_json::json!({
            "name": "rule", "type": "keyword", "keywords": [keyword], "effect": "reject",
        }))
        .unwrap();
        body.into_rule(Uuid::from_u128(id).into())
    }

    #[test]
    fn rules_are_told_apart_by_their_ids() {
        let earlier = [rule(1, "a"), rule(2, "b"), rule(3, "c")];
        let later = [rule(4, "a"), rule(1, "a"), rule(3, "d")];
        assert_eq!(
            Difference::between(&earlier, &later),
            Difference {
                added: vec![rule(4, "a")],
                removed: vec![rule(2, "b")],
                changed: vec![(rule(3, "c"), rule(3, "d"))],
                moved: vec![],
            }
        );
        assert_eq!(
            Difference::between(&later, &later),
            Difference::default(),
            "a version differs in nothing from itself"
        );
    }

    #[test]
    fn a_rule_that_was_moved_is_told_and_not_all_that_made_room_for_it() {
        let rules = |ids: &[u128]| -> Vec<Rule> { ids.iter().map(|id| rule(*id, "x")).collect() };
        let moved = |from: &[u128], to: &[u128]| -> Vec<u128> {
            let difference = Difference::between(&rules(from), &rules(to));
            assert!(difference.changed.is_empty());
            let moved = difference.moved.iter();
            moved.map(|id| id.as_uuid().as_u128()).collect()
        };
        assert_eq!(moved(&[1, 2, 3, 4, 5], &[5, 1, 2, 3, 4]), [5]);
        assert_eq!(moved(&[1, 2, 3, 4, 5], &[2, 3, 4, 5, 1]), [1]);
        assert_eq!(moved(&[1, 2, 3], &[9, 1, 3]), []);
        assert_eq!(moved(&[1, 2, 3, 4], &[2, 1, 4, 3]).len(), 2);
    }
}
