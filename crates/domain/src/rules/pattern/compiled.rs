//! All regular expressions of a group, compiled.

use std::sync::OnceLock;

use regex_automata::Input;
use regex_automata::meta::{Cache, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::iter::Searcher;
use regex_syntax::hir::Hir;

use super::Parsed;
use super::caches::Caches;
use super::candidates::Candidates;
use super::set::SetCaches;
use crate::rules::budget::{Meter, Over};
use crate::rules::content_rule::{ContentRule, Exceptions, Finding};
use crate::rules::{RuleType, View};
use crate::text::Readings;

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
