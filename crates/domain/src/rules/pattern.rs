//! The rule kind `regex`: a regular expression over the text as it was submitted.
//!
//! The engine takes linear time for every pattern, so there are no look-arounds and no back
//! references. A pattern is case-sensitive unless it contains `(?i)`.

mod caches;
mod candidates;
mod compiled;
mod literals;
mod rewrite;
mod set;
mod sets;
mod size;

use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_syntax::hir::Hir;
use regex_syntax::{Error, ParserBuilder};
use serde::{Deserialize, Serialize};

pub(super) use self::compiled::Patterns;
use super::RuleEffect;
use super::error::NUL;
use super::error_list::RuleErrorList;

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
