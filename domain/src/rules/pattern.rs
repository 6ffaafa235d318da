//! The rule kind `regex`: a regular expression over the text as it was submitted.
//!
//! The engine runs in time linear in the text for every pattern; there are no look-arounds and no back references.
//! A pattern is case-sensitive unless it says `(?i)`.


use regex_automata::meta::{BuildError, Builder, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::{Input, PatternSet};
use regex_syntax::hir::Hir;
use regex_syntax::{Error, ParserBuilder};
use serde::{Deserialize, Serialize};

use super::content::{ContentRule, Exceptions, Finding};
use super::error::RuleFaults;
use super::{Effect, RuleType, View};
use crate::text::Readings;

/// The longest pattern, in characters.
pub const MAX_PATTERN_CHARS: usize = 2_000;
/// The most regular expressions in a group.
pub const MAX_PATTERNS: usize = 1_000;
/// The largest automaton of one pattern, in bytes. The worst case is this size times the text's; what people write
/// takes a few KB, and `\w{20}`, with all letters of Unicode, some 200.
const MAX_PATTERN_BYTES: usize = 512 << 10;
/// The largest automata of a group's patterns together, in bytes.
pub(super) const MAX_GROUP_BYTES: usize = 32 << 20;
/// How deep groups may be nested, which bounds the parser's stack.
const MAX_NESTING: u32 = 50;
/// How many patterns are searched for at once. More make the lazily built automaton outgrow its cache.
const PATTERNS_PER_SET: usize = 50;
/// The cache of a lazily built automaton, in bytes; one for each thread that searches.
const CACHE_BYTES: usize = 1 << 20;

/// A regular expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// In the syntax of Rust's `regex` crate. It must not match the empty text, which every text contains.
    pub pattern: String,
    /// What a match asks for.
    pub effect: Effect,
}

/// A pattern, parsed and compiled.
pub(super) struct Compiled {
    hir: Hir,
    regex: Regex,
}

impl Pattern {
    pub(super) fn compile(&self, faults: &mut RuleFaults<'_>) -> Option<Compiled> {
        if self.pattern.chars().count() > MAX_PATTERN_CHARS {
            faults.add("pattern", format!("must have at most {MAX_PATTERN_CHARS} characters"));
            return None;
        }
        let hir = ParserBuilder::new()
            .nest_limit(MAX_NESTING)
            .build()
            .parse(&self.pattern)
            .map_err(|error| self.refuse(&error, faults))
            .ok()?;
        match hir.properties().minimum_len() {
            Some(0) => {
                faults.add("pattern", "matches the empty text, so it would match every text");
                return None;
            }
            None => {
                faults.add("pattern", "can never match");
                return None;
            }
            Some(1..) => {}
        }
        match builder(MAX_PATTERN_BYTES).build_from_hir(&hir) {
            Ok(regex) => Some(Compiled { hir, regex }),
            Err(_) => {
                faults.add(
                    "pattern",
                    "is too large when compiled; use smaller repetitions, or ASCII classes such as `[0-9a-z]`",
                );
                None
            }
        }
    }

    fn refuse(&self, error: &Error, faults: &mut RuleFaults<'_>) {
        let (message, offset) = match error {
            Error::Parse(error) => (error.kind().to_string(), Some(error.span().start.offset)),
            Error::Translate(error) => (error.kind().to_string(), Some(error.span().start.offset)),
            // The crate may add kinds of errors; their text is all that we could use.
            other => (other.to_string(), None),
        };
        match offset.and_then(|offset| self.pattern.get(..offset)) {
            Some(before) => faults.add_at("pattern", message, before.chars().count()),
            None => faults.add("pattern", message),
        }
    }
}

fn builder(nfa_bytes: usize) -> Builder {
    let mut builder = Regex::builder();
    builder.configure(
        Config::new()
            .nfa_size_limit(Some(nfa_bytes))
            .hybrid_cache_capacity(CACHE_BYTES)
            // Only the place of a match is ever asked for.
            .which_captures(WhichCaptures::Implicit),
    );
    builder
}

/// All regular expressions of a group, ready to be asked.
pub(super) struct Patterns {
    rules: Vec<(ContentRule, Regex)>,
    /// For each [`PATTERNS_PER_SET`] rules in turn, an automaton that tells which of them match at all.
    sets: Vec<Regex>,
}

impl Patterns {
    pub(super) fn new(rules: Vec<(ContentRule, Compiled)>) -> Result<Self, Box<BuildError>> {
        let sets = rules
            .chunks(PATTERNS_PER_SET)
            .map(|rules| {
                let hirs: Vec<&Hir> = rules.iter().map(|(_, compiled)| &compiled.hir).collect();
                builder(MAX_GROUP_BYTES).build_many_from_hir(&hirs)
            })
            .collect::<Result<_, _>>()?;
        let rules = rules.into_iter().map(|(rule, compiled)| (rule, compiled.regex)).collect();
        Ok(Self { rules, sets })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Reports the first unexcused match of each rule.
    pub(super) fn examine(
        &self,
        text: &Readings<'_>,
        exceptions: &mut Exceptions,
        mut report: impl FnMut(Finding<'_>),
    ) {
        for (set, rules) in self.sets.iter().zip(self.rules.chunks(PATTERNS_PER_SET)) {
            let mut matching = PatternSet::new(rules.len());
            set.which_overlapping_matches(&Input::new(text.original()), &mut matching);
            for number in matching.iter() {
                let (rule, regex) = &rules[number.as_usize()];
                let unexcused = regex.find_iter(text.original()).find(|found| {
                    let folded = text.folded().folded_span(&found.range());
                    !exceptions.excuse(rule, text, &folded)
                });
                if let Some(found) = unexcused {
                    report(Finding {
                        rule,
                        rule_type: RuleType::Regex,
                        view: View::Original,
                        span: found.range(),
                        details: "The text matches the pattern of this rule.",
                    });
                }
            }
        }
    }

    pub(super) fn approx_bytes(&self) -> usize {
        self.rules.iter().map(|(rule, regex)| rule.approx_bytes() + regex.memory_usage()).sum::<usize>()
            + self.sets.iter().map(|set| set.memory_usage() + CACHE_BYTES).sum::<usize>()
    }
}
