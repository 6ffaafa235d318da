//! The rule kind `regex`: a regular expression over the text as it was submitted.
//!
//! The engine takes linear time for every pattern, so there are no look-arounds and no back
//! references. A pattern is case-sensitive unless it contains `(?i)`.

mod caches;
mod candidates;
mod set;
mod size;

use std::sync::OnceLock;

use regex_automata::{
    Input,
    meta::{Cache, Config, Regex},
    nfa::thompson::{self, NFA, WhichCaptures},
    util::iter::Searcher,
};
use regex_syntax::{Error, ParserBuilder, hir::Hir};
use serde::{Deserialize, Serialize};

use self::{caches::Caches, candidates::Candidates, set::SetCaches};
use super::{
    RuleEffect, RuleType, View,
    budget::{Meter, Over},
    content_rule::{ContentRule, Exceptions, Finding},
    error::{NUL, RuleErrorList},
};
use crate::text::Readings;

/// The longest pattern, in characters.
pub const MAX_PATTERN_CHARS: usize = 2_000;
/// The most regular expressions in a group.
pub const MAX_PATTERNS: usize = 1_000;
/// The most positions of a pattern whose repetitions are written out. In the worst case, every
/// position costs a step at every byte of the text: with 100 KB, about a second.
pub const MAX_POSITIONS: usize = 1_000;
/// The most positions of all patterns of a group together.
pub const MAX_GROUP_POSITIONS: usize = 30_000;
/// The largest automaton of one pattern, in bytes. Each `\w`, with all letters of Unicode, takes
/// about 20 KB.
const MAX_PATTERN_BYTES: usize = 4 << 20;
/// How deep groups may be nested. This bounds the parser's stack.
const MAX_NESTING: u32 = 50;
/// How many automata a compiled pattern has: forwards, backwards, and one for the part before a
/// literal.
const AUTOMATA: usize = 3;

/// A regular expression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// In the syntax of Rust's `regex` crate. It must not match the empty text, because every text
    /// contains that.
    pub pattern: String,
    /// What a match asks for.
    pub effect: RuleEffect,
}

/// A pattern that was checked.
pub(super) struct Parsed {
    hir: Hir,
    /// See [`MAX_POSITIONS`].
    pub(super) positions: usize,
    /// The bytes of its automaton.
    bytes: usize,
}

impl Parsed {
    /// What the pattern takes when it is compiled on its own, in bytes.
    pub(super) fn single_bytes(&self) -> usize {
        AUTOMATA * self.bytes + size::hir_bytes(&self.hir)
    }
}

impl Pattern {
    pub(super) fn parse(&self, errors: &mut RuleErrorList<'_>) -> Option<Parsed> {
        if self.pattern.chars().count() > MAX_PATTERN_CHARS {
            errors.add(
                "pattern",
                format!("must have at most {MAX_PATTERN_CHARS} characters"),
            );
            return None;
        }
        if let Some(at) = self.pattern.chars().position(|c| c == '\0') {
            errors.add_at("pattern", NUL, at);
            return None;
        }
        let hir = ParserBuilder::new()
            .nest_limit(MAX_NESTING)
            .build()
            .parse(&self.pattern)
            .map_err(|error| self.refuse(&error, errors))
            .ok()?;
        match hir.properties().minimum_len() {
            Some(0) => {
                errors.add(
                    "pattern",
                    "matches the empty text, so it would match every text",
                );
                return None;
            }
            None => {
                errors.add("pattern", "can never match");
                return None;
            }
            Some(1..) => {}
        }
        let positions = size::positions(&hir);
        if positions > MAX_POSITIONS {
            let message = format!(
                "is too large: with its repetitions written out it has more than {MAX_POSITIONS} positions"
            );
            self.refuse_at(
                size::largest_repetition(&self.pattern, MAX_NESTING),
                message,
                errors,
            );
            return None;
        }
        let config = thompson::Config::new()
            .nfa_size_limit(Some(MAX_PATTERN_BYTES))
            .which_captures(WhichCaptures::None);
        let Ok(automaton) = NFA::compiler().configure(config).build_from_hir(&hir) else {
            let message = "is too large: use ASCII classes such as `[0-9a-z]`".to_owned();
            self.refuse_at(
                size::largest_repetition(&self.pattern, MAX_NESTING),
                message,
                errors,
            );
            return None;
        };
        Some(Parsed {
            hir,
            positions,
            bytes: automaton.memory_usage(),
        })
    }

    fn refuse(&self, error: &Error, errors: &mut RuleErrorList<'_>) {
        let (message, offset) = match error {
            Error::Parse(error) => (error.kind().to_string(), Some(error.span().start.offset)),
            Error::Translate(error) => (error.kind().to_string(), Some(error.span().start.offset)),
            // The crate may add kinds of errors. Then only their text is usable.
            other => (other.to_string(), None),
        };
        self.refuse_at(offset, message, errors);
    }

    /// Refuses the pattern because of something at a place, in bytes.
    fn refuse_at(&self, place: Option<usize>, message: String, errors: &mut RuleErrorList<'_>) {
        match place.and_then(|place| self.pattern.get(..place)) {
            Some(before) => errors.add_at("pattern", message, before.chars().count()),
            None => errors.add("pattern", message),
        }
    }
}

/// The cache of a lazily built automaton, in bytes; each search has one. A pattern that outgrows it
/// is searched for more slowly.
const CACHE_BYTES: usize = 512 << 10;
/// The bytes that searches for single patterns may keep together.
const KEPT_BYTES: usize = 8 << 20;

/// All regular expressions of a group, compiled.
pub(crate) struct Patterns {
    rules: Vec<(ContentRule, Single)>,
    candidates: Candidates,
    set_caches: SetCaches,
    /// By the pattern's number.
    single_caches: Caches<usize, Box<Cache>>,
}

/// One regular expression, which finds the place of a match. Most texts do not need it, so it is
/// compiled when the first text does.
struct Single {
    hir: Hir,
    /// The bytes that it takes when it is compiled.
    bytes: usize,
    regex: OnceLock<Regex>,
}

impl Patterns {
    /// The bytes of the single patterns are counted already. Searches may keep as much as fits into
    /// the rest.
    pub(crate) fn new(
        rules: Vec<(ContentRule, Parsed)>,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Over> {
        let (rules, parsed): (Vec<ContentRule>, Vec<Parsed>) = rules.into_iter().unzip();
        let automata: Vec<(usize, usize)> = rules
            .iter()
            .zip(&parsed)
            .map(|(rule, parsed)| (rule.order, parsed.bytes))
            .collect();
        let bytes: Vec<usize> = parsed.iter().map(Parsed::single_bytes).collect();
        let hirs: Vec<Hir> = parsed.into_iter().map(|parsed| parsed.hir).collect();
        let candidates = Candidates::new(&hirs, &automata, meter)?;
        let singles = hirs.into_iter().zip(bytes).map(|(hir, bytes)| Single {
            hir,
            bytes,
            regex: OnceLock::new(),
        });
        let left = meter.left();
        let least = candidates.least_cache_bytes();
        if least > left {
            return Err(Over::Bytes(meter.limit() - left + least));
        }
        let for_singles = KEPT_BYTES.min(left / 4).min(left - least);
        let for_sets = candidates.wanted_cache_bytes().min(left - for_singles);
        Ok(Self {
            rules: rules.into_iter().zip(singles).collect(),
            candidates,
            set_caches: SetCaches::new(for_sets),
            single_caches: Caches::new(if automata.is_empty() { 0 } else { for_singles }),
        })
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Reports the first match of each rule that is not excused.
    pub(crate) fn examine(
        &self,
        text: &Readings<'_>,
        exceptions: &mut Exceptions,
        mut report: impl FnMut(Finding<'_>),
    ) {
        for number in self.candidates.of(text.original(), &self.set_caches) {
            let (rule, single) = &self.rules[number];
            let regex = single.regex();
            let mut cache = self
                .single_caches
                .take(&number)
                .unwrap_or_else(|| Box::new(regex.create_cache()));
            let mut searcher = Searcher::new(Input::new(text.original()));
            let mut matches = std::iter::from_fn(|| {
                searcher.advance(|input| Ok(regex.search_with(&mut cache, input)))
            });
            let unexcused = matches.find(|found| {
                let folded = text.folded().folded_span(&found.range());
                !exceptions.excuse(rule, text, &folded)
            });
            let bytes = size_of::<Cache>() + cache.memory_usage();
            self.single_caches.put_back(number, cache, bytes);
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

    pub(crate) fn approx_bytes(&self) -> usize {
        let rule = |(rule, single): &(ContentRule, Single)| rule.approx_bytes() + single.bytes;
        self.candidates.approx_bytes()
            + self.rules.iter().map(rule).sum::<usize>()
            + self.set_caches.most_bytes()
            + self.single_caches.most_bytes()
    }
}

impl Single {
    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| {
            let config = Config::new()
                // The limit was checked when the pattern was parsed.
                .nfa_size_limit(None)
                .hybrid_cache_capacity(CACHE_BYTES)
                // Engines that are faster on some patterns, but cost more to build than a text
                // saves.
                .onepass(false)
                .dfa(false)
                // Only the place of a match is needed.
                .which_captures(WhichCaptures::Implicit);
            Regex::builder()
                .configure(config)
                .build_from_hir(&self.hir)
                .expect("nothing but the size, which is not limited, can be at fault")
        })
    }
}
