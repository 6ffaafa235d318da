//! The local text analyser: weighted terms and phrases, read in their context. Deterministic,
//! without any model.
//!
//! It is coarse: it knows English words, not meaning, and some phrases of other languages. It serves a first start without a provider,
//! tests, and a second opinion. It finds what is said plainly or in disguise. Its scores are
//! graded: a mere word stays low, a word aimed at somebody reaches review, and a threat or an open
//! call reaches rejection.
//!
//! The score of a category is 1 - (1 - s1)(1 - s2)..., over the distinct signs found, where a
//! sign's strength is its weight in the lexicon times the factors of its context below.
//! `sexual_minors` is never scored: words alone cannot tell abuse from the talk of those who fight
//! it. For a text that is not English, or of which a part is not, only categories with a finding get
//! a score, because finding nothing says nothing there ([`language`]).

mod context;
mod language;
mod other_languages;
mod terms;

use context::{Context, Sign};
use other_languages::OtherLanguages;
use terms::{LEXICON, Needs, Role};

use domain::score::{Category, Scores};
use domain::text::{Answer, Bounds, Matcher, Readings, Term};

/// The categories that the analyser can score.
pub const CATEGORIES: [Category; 7] = [
    Category::Adult,
    Category::Violence,
    Category::Hate,
    Category::SelfHarm,
    Category::Harassment,
    Category::Illicit,
    Category::Spam,
];

/// How context changes a sign's weight. Chosen by hand, so that the table of sentences in the tests
/// comes out right.
mod factor {
    /// A sign that needs a target, without a target.
    pub(super) const UNAIMED: f64 = 0.4;
    /// "I am going to ..." before it.
    pub(super) const INTENDED: f64 = 1.35;
    /// "really", or shouting adverbs, before it.
    pub(super) const INTENSIFIED: f64 = 1.2;
    /// "not", "never" before it.
    pub(super) const NEGATED: f64 = 0.25;
    /// The sentence reports, teaches, plays or helps.
    pub(super) const DISTANT: f64 = 0.45;
    /// Between quotation marks.
    pub(super) const QUOTED: f64 = 0.6;
    /// The highest strength: no word is certain.
    pub(super) const MOST: f64 = 0.98;
}

/// The analyser, with its lexicon compiled. Immutable; make one and share it.
pub struct Analyser {
    matcher: Matcher,
    other_languages: OtherLanguages,
}

impl Analyser {
    /// Compiles the lexicon.
    pub fn new() -> Self {
        let terms = LEXICON.iter().enumerate().flat_map(|(owner, entry)| {
            entry.terms.split('|').map(move |text| Term {
                text,
                bounds: Bounds::Word,
                owner,
            })
        });
        Self {
            matcher: Matcher::new(terms).expect("the lexicon is far below what an automaton holds"),
            other_languages: OtherLanguages::new(),
        }
    }

    /// Scores a text: each of [`CATEGORIES`] if it is readable, otherwise only those with a finding.
    pub fn analyse(&self, text: &str) -> Scores {
        self.look(text).scores
    }

    /// Scores a text, and tells whether it is readable.
    pub fn look(&self, text: &str) -> Found {
        let readings = Readings::new(text);
        let mut found = Vec::new();
        self.matcher.find(&readings, |entry, hit| {
            found.push(Sign {
                entry,
                at: hit.folded,
            });
            Answer::More
        });
        let context = Context::new(readings.folded().text(), found);
        let mut clean = [1.0; CATEGORIES.len()];
        let mut strongest = [0.0_f64; LEXICON.len()];
        for sign in context.signs() {
            let strength = &mut strongest[sign.entry];
            *strength = strength.max(strength_in(&context, sign));
        }
        let mut add = |category, strength: f64| {
            if let Some(at) = CATEGORIES.iter().position(|own| *own == category) {
                clean[at] *= 1.0 - strength.min(factor::MOST);
            }
        };
        for (entry, strength) in LEXICON.iter().zip(strongest) {
            let Role::Sign { weights, .. } = entry.role else {
                continue;
            };
            for (category, weight) in weights {
                add(*category, weight * strength);
            }
        }
        let readable = is_mostly_latin(text) && language::is_readable(text);
        if !readable {
            for (category, weight) in self.other_languages.find(&readings) {
                add(category, weight);
            }
        }
        let scores = CATEGORIES
            .into_iter()
            .zip(clean)
            .filter(|(_, clean)| readable || *clean < 1.0)
            .map(|(category, clean)| (category, 1.0 - clean));
        Found {
            scores: scores.collect(),
            is_readable: readable,
        }
    }
}

/// What the lexicons say about a text.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its scores.
    pub scores: Scores,
    /// Whether it is English, as far as one can tell. Otherwise only findings have a score.
    pub is_readable: bool,
}

impl Default for Analyser {
    fn default() -> Self {
        Self::new()
    }
}

/// The factor by which the context of a sign strengthens or weakens it.
fn strength_in(context: &Context, sign: &Sign) -> f64 {
    let Role::Sign { needs, .. } = LEXICON[sign.entry].role else {
        return 0.0;
    };
    let around = context.around(sign);
    let mut strength = match needs {
        Needs::Nothing => 1.0,
        Needs::Target if around.target || around.group => 1.0,
        Needs::Target => factor::UNAIMED,
        Needs::Group if around.group => 1.0,
        Needs::Group => return 0.0,
    };
    for (holds, factor) in [
        (around.intent, factor::INTENDED),
        (around.intensifier, factor::INTENSIFIED),
        (around.negation, factor::NEGATED),
        (around.distance, factor::DISTANT),
        (around.quoted, factor::QUOTED),
    ] {
        if holds {
            strength *= factor;
        }
    }
    strength
}

/// Whether at least half of a text's letters are Latin; true without letters.
fn is_mostly_latin(text: &str) -> bool {
    let (mut latin, mut all) = (0_usize, 0_usize);
    for c in text.chars().filter(|c| c.is_alphabetic()) {
        all += 1;
        // Includes Latin Extended Additional, and the compatibility forms that people disguise
        // Latin with.
        let is_latin = matches!(c, '\0'..='\u{024F}' | '\u{1E00}'..='\u{1EFF}'
            | '\u{FF21}'..='\u{FF5A}' | '\u{1D400}'..='\u{1D7FF}' | '\u{24B6}'..='\u{24E9}');
        latin += usize::from(is_latin);
    }
    latin * 2 >= all
}

#[cfg(test)]
mod tests;
