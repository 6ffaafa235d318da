//! The patterns: keywords and regular expressions like those of moderators, made of invented words,
//! the same for the same seed.

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::IndexedRandom as _};

/// The patterns.
#[derive(Clone, Debug)]
pub(crate) struct Patterns {
    pub(crate) keywords: Vec<String>,
    pub(crate) regexes: Vec<String>,
}

/// How many regular expressions need a certain literal, which excludes most texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Literals {
    /// Nine of ten, as in real rules.
    Most,
    /// None, which is the worst case.
    None,
}

impl Patterns {
    pub(crate) fn new(seed: u64, keywords: usize, regexes: usize, literals: Literals) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        Self {
            keywords: (0..keywords).map(|_| keyword(&mut random)).collect(),
            regexes: (0..regexes)
                .map(|number| match (literals, number % 10) {
                    (Literals::Most, family @ 1..) => with_literal(&mut random, family),
                    (Literals::Most | Literals::None, _) => without_literal(&mut random),
                })
                .collect(),
        }
    }
}

const ONSETS: [&str; 24] = [
    "b", "br", "c", "cl", "d", "dr", "f", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pr", "r",
    "s", "st", "t", "tr", "v", "w",
];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "ou", "ai"];
const ENDS: [&str; 10] = ["", "n", "r", "s", "t", "l", "ck", "nd", "m", "rt"];

/// An invented word of two to four syllables.
fn word(random: &mut StdRng) -> String {
    let mut pick = |from: &[&'static str]| *from.choose(random).unwrap_or(&"");
    let mut word = String::new();
    let mut add = || word.extend([pick(&ONSETS), pick(&VOWELS), pick(&ENDS)]);
    add();
    add();
    if random.random_bool(0.5) {
        word.push_str(ONSETS.choose(random).unwrap_or(&""));
        word.push_str(VOWELS.choose(random).unwrap_or(&""));
        word.push_str(ENDS.choose(random).unwrap_or(&""));
    }
    word
}

/// A word, in three of ten cases a phrase of two.
fn keyword(random: &mut StdRng) -> String {
    if random.random_bool(0.3) {
        format!("{} {}", word(random), word(random))
    } else {
        word(random)
    }
}

fn with_literal(random: &mut StdRng, family: usize) -> String {
    let (one, other) = (word(random), word(random));
    let digits = random.random_range(2..6);
    match family {
        1 => format!(r"(?i)\b{one}(s|ed|ing)?\b"),
        2 => format!(r"(?i){one}\s+{other}"),
        3 => format!(r"(?i)\b(buy|sell|get|order)\s+{one}\b"),
        4 => format!(r"{one}-\d{{{digits}}}"),
        5 => format!(r"(?i)https?://[a-z0-9.-]*{one}\.(com|net|org)"),
        6 => format!(r"(?i)\b{one}[._-]?{other}\b"),
        7 => format!(r"(?i)\b[ck][a4@][s5$]+{one}"),
        8 => format!(r"(?i)\b\w+{one}\w*\b"),
        _ => format!(r"(?i)\b{one}\b.{{0,20}}\b{other}\b"),
    }
}

fn without_literal(random: &mut StdRng) -> String {
    let count = random.random_range(2..6);
    let classes = [
        "[aeiou4@]",
        "[b-d]",
        "[lmn]",
        "[s5$z]",
        "[tkp]",
        "[^a-m ]",
        "[xyz]",
    ];
    let mut class = || *classes.choose(random).unwrap_or(&"");
    match count {
        2 => format!(r"\b[A-Z]{{2,3}}{}\d{{3,4}}\b", class()),
        3 => format!(r"\b\d{{3}}[ -]?\d{{{count}}}{}\d{{4}}\b", class()),
        4 => format!(
            r"(?i)\b{}{}[a-z]{{{count}}}{}{}\b",
            class(),
            class(),
            class(),
            class()
        ),
        _ => format!(
            r"(?i){}{}+{}{{{count}}}{}",
            class(),
            class(),
            class(),
            class()
        ),
    }
}
