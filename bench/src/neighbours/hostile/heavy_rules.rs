//! Rule groups that are heavy to compile and to keep. Each is within the limits of numbers. Only
//! compiling shows how heavy it is.

use rand::{RngExt as _, rngs::StdRng};
use serde_json::{Value, json};

/// Repetitions of a Unicode class. Each makes about 20 KB of automaton.
const REPEATED: u32 = 190;
/// Characters of a keyword or an exception; 100 are allowed.
const TERM: usize = 95;
/// Exceptions of the rule; 1,000 are allowed.
const EXCEPTIONS: usize = 1_000;

/// What makes a group heavy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Patterns such as `\w{190}`.
    Patterns,
    /// Keywords and exceptions without anything in common.
    Keywords,
    /// Domains of links.
    Domains,
}

impl Weight {
    pub(super) const ALL: [Self; 3] = [Self::Patterns, Self::Keywords, Self::Domains];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Patterns => "patterns",
            Self::Keywords => "keywords",
            Self::Domains => "domains",
        }
    }

    /// The most that are allowed: a group's patterns have at most 30,000 positions.
    pub(super) const fn most(self) -> usize {
        match self {
            Self::Patterns => 157,
            Self::Keywords | Self::Domains => 50_000,
        }
    }

    /// How many are tried first: a number that was observed to be too heavy.
    pub(super) const fn first(self) -> usize {
        match self {
            Self::Patterns => 40,
            Self::Keywords | Self::Domains => 50_000,
        }
    }

    /// The rules of a group. Groups with different `variant` differ, and so do all patterns.
    pub(super) fn rules(self, count: usize, variant: u32, random: &mut StdRng) -> Value {
        match self {
            Self::Patterns => patterns(count, variant),
            Self::Keywords => {
                let keywords: Vec<String> = (0..count).map(|_| term(random)).collect();
                let exceptions: Vec<String> = (0..EXCEPTIONS).map(|_| term(random)).collect();
                json!([{
                    "name": "Keywords", "type": "keyword", "keywords": keywords, "matching": "substring",
                    "exceptions": exceptions, "effect": "review",
                }])
            }
            Self::Domains => {
                let domains: Vec<String> = (0..count).map(|_| domain(random)).collect();
                json!([{
                    "name": "Domains", "type": "link", "policy": "deny", "domains": domains, "effect": "review",
                }])
            }
        }
    }
}

/// Patterns of all letters but one, another one each.
pub(super) fn patterns(count: usize, variant: u32) -> Value {
    let spared = (0..).map(|number| 0x4E00 + (variant * 200 + number) % 20_000);
    let rules = spared.take(count).map(|spared| {
        json!({
            "name": format!("Pattern {spared:x}"), "type": "regex",
            "pattern": format!(r"[\w--\x{{{spared:x}}}]{{{REPEATED}}}"), "effect": "review",
        })
    });
    rules.collect()
}

/// Rules that cost nothing.
pub(super) fn light() -> Value {
    json!([{ "name": "A word", "type": "keyword", "keywords": ["blockedword"], "effect": "review" }])
}

fn term(random: &mut StdRng) -> String {
    letters(random, TERM)
}

fn domain(random: &mut StdRng) -> String {
    format!("{}.{}.example", letters(random, 60), letters(random, 60))
}

fn letters(random: &mut StdRng, count: usize) -> String {
    (0..count)
        .map(|_| char::from(random.random_range(b'a'..=b'z')))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use domain::rules::{CompiledGroup, RuleBody};
    use rand::SeedableRng as _;
    use uuid::Uuid;

    use super::*;

    fn accepted(rules: &Value) -> bool {
        let bodies: Vec<RuleBody> = serde_json::from_value(rules.clone()).unwrap();
        let rules: Vec<_> = bodies
            .into_iter()
            .map(|body| body.into_rule(Uuid::now_v7().into()))
            .collect();
        CompiledGroup::compile(Uuid::nil().into(), Uuid::nil().into(), &rules).is_ok()
    }

    #[test]
    fn a_little_of_every_weight_is_accepted() {
        let mut random = StdRng::seed_from_u64(1);
        for weight in Weight::ALL {
            assert!(accepted(&weight.rules(1, 0, &mut random)), "{weight:?}");
        }
        assert!(accepted(&light()));
    }

    #[test]
    fn no_two_patterns_are_alike() {
        let rules = [patterns(157, 1), patterns(157, 2)];
        let patterns: HashSet<_> = rules
            .iter()
            .flat_map(|rules| rules.as_array().unwrap())
            .map(|rule| rule["pattern"].as_str().unwrap())
            .collect();
        assert_eq!(patterns.len(), 2 * 157);
    }
}
