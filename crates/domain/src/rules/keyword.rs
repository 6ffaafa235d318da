//! The rule kind `keyword`: words and phrases, found behind the usual disguises.

use serde::{Deserialize, Serialize};

use super::{
    RuleEffect, RuleType, View,
    budget::{Meter, Over},
    content_rule::{ContentRule, Exceptions, Finding},
    error::{NUL, RuleErrorList},
};
use crate::{
    media::named_set,
    text::{Answer, Bounds, Matcher, Readings, Term, Terms, Where},
};

/// The longest keyword or exception, in characters: twice the longest phrases that people list. The
/// number of overlapping matches grows with this length, and so does the time.
pub const MAX_TERM_CHARS: usize = 100;
/// The most keywords in a group, over all its rules: about 10 MB of automata.
pub const MAX_KEYWORDS: usize = 50_000;

/// How many terms are read between two checks of the clock: less than a millisecond of work.
const TERMS_PER_CHECK: usize = 64;

/// A list of words and phrases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keyword {
    /// The words and phrases; at least one. Case, accents and similar differences do not matter.
    pub keywords: Vec<String>,
    /// Whether they are whole words, or also parts of words.
    #[serde(default)]
    pub matching: Matching,
    /// What a match asks for.
    pub effect: RuleEffect,
}

named_set! {
    /// Where a keyword is found.
    #[derive(Default)]
    Matching {
        /// As whole words, also when disguised by digits, spaces or stretched letters.
        #[default]
        WholeWord = "whole_word",
        /// Anywhere, also within a word.
        Substring = "substring",
    }
}

impl Keyword {
    pub(super) fn check(&self, errors: &mut RuleErrorList<'_>) {
        if self.keywords.is_empty() {
            errors.add("keywords", "at least one keyword is required");
        }
        for (at, keyword) in self.keywords.iter().enumerate() {
            check_term(keyword, || format!("keywords[{at}]"), errors);
        }
    }
}

/// Checks a keyword or an exception.
pub(super) fn check_term(term: &str, field: impl Fn() -> String, errors: &mut RuleErrorList<'_>) {
    if term.chars().count() > MAX_TERM_CHARS {
        errors.add(
            field(),
            format!("must have at most {MAX_TERM_CHARS} characters"),
        );
    } else if term.contains('\0') {
        errors.add(field(), NUL);
    } else if !Matcher::is_findable(term) {
        errors.add(field(), "must have visible characters");
    }
}

/// All keyword rules of a group, compiled.
pub(super) struct Keywords {
    rules: Vec<ContentRule>,
    matcher: Matcher,
}

impl Keywords {
    pub(super) fn new(
        rules: Vec<(ContentRule, &Keyword)>,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Over> {
        let terms = rules.iter().enumerate().flat_map(|(owner, (_, rule))| {
            let bounds = match rule.matching {
                Matching::WholeWord => Bounds::Word,
                Matching::Substring => Bounds::Anything,
            };
            rule.keywords.iter().map(move |text| Term {
                text,
                bounds,
                owner,
            })
        });
        let mut gathered = Terms::default();
        for (number, term) in terms.enumerate() {
            if number % TERMS_PER_CHECK == 0 {
                meter.check_time()?;
            }
            gathered.add(term);
        }
        let weights: Vec<(usize, usize)> = rules
            .iter()
            .map(|(rule, keyword)| (rule.order, keyword.keywords.iter().map(String::len).sum()))
            .collect();
        meter.check_states(gathered.states(), &weights)?;
        let matcher = gathered.build().map_err(|_| meter.full())?;
        meter.divide(matcher.approx_bytes(), &weights)?;
        Ok(Self {
            rules: rules.into_iter().map(|(rule, _)| rule).collect(),
            matcher,
        })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Reports the first match of each rule that is not excused.
    pub(super) fn examine(
        &self,
        text: &Readings<'_>,
        exceptions: &mut Exceptions,
        mut report: impl FnMut(Finding<'_>),
    ) {
        self.matcher.find(text, |owner, hit| {
            let rule = &self.rules[owner];
            if exceptions.excuse(rule, text, &hit.folded) {
                return Answer::More;
            }
            let (view, details) = match hit.place {
                Where::Folded => (View::Folded, "The text contains a term of this rule."),
                Where::Loose => (
                    View::Loose,
                    "The text contains a term of this rule in disguise.",
                ),
            };
            let span = text.original_span(hit.folded);
            report(Finding {
                rule,
                rule_type: RuleType::Keyword,
                view,
                span,
                details,
            });
            Answer::Enough
        });
    }

    pub(super) fn approx_bytes(&self) -> usize {
        let rules = self.rules.iter().map(ContentRule::approx_bytes);
        self.matcher.approx_bytes() + rules.sum::<usize>()
    }
}
