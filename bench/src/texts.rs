//! Realistic texts, the same for the same seed: many languages and scripts, from one line to 20 KB, most of them harmless,
//! some of which the demo rules must find.

#[cfg(test)]
mod tests;
mod vocabulary;

use std::sync::LazyLock;

use builtin::Analyser;
use domain::{media::Status, score::Category};
use rand::{RngExt, SeedableRng, rngs::StdRng, seq::IndexedRandom};

use vocabulary::{Language, Spacing};

use crate::sites;

/// The median length in bytes, and the bounds.
const MEDIAN_BYTES: f64 = 300.0;
const SHORTEST_BYTES: f64 = 12.0;
const LONGEST_BYTES: f64 = 20_000.0;
/// Of the logarithm of the length: one text in seventy is longer than 4 KB.
const SPREAD: f64 = 1.2;

/// Below the thresholds of the demo's rules.
const DOUBTFUL: f64 = 0.4;

/// How many texts are looked at to find a harmless one.
const TRIES: u64 = 64;

/// A text and the verdict that it must get.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    pub(crate) body: String,
    /// None if it depends on scores.
    pub(crate) expected: Option<Status>,
}

/// What a text contains in addition to harmless words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Salt {
    None,
    Blocked,
    Reviewed,
    Both,
    Rude,
}

/// An endless supply of texts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts {
    seed: u64,
}

/// The service's built-in analyser, and the categories that the sites' rules want.
static ANALYSER: LazyLock<(Analyser, Vec<Category>)> = LazyLock::new(|| {
    let (_, compiled) = sites::rules().expect("the demo's rules are good");
    (Analyser::new(), compiled.categories().to_vec())
});

/// The verdict on a text of harmless words. Of a text in another language, the analyser scores only
/// categories with a finding, and such a text needs a person. Some random sentences are scored as
/// high as bad ones: then it depends on the scores.
fn of_harmless_words(text: &str) -> Option<Status> {
    let (analyser, wanted) = &*ANALYSER;
    let scores = analyser.analyse(text);
    let wanted: Option<Vec<f64>> = wanted
        .iter()
        .map(|category| scores.get(*category))
        .collect();
    match wanted {
        None => Some(Status::PendingReview),
        Some(scores) if scores.iter().any(|score| *score >= DOUBTFUL) => None,
        Some(_) => Some(Status::Approved),
    }
}

impl Texts {
    /// Equal seeds give equal texts.
    pub(crate) const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The text of this number.
    pub(crate) fn get(self, number: u64) -> Text {
        let mut random = self.source(number);
        let length = length(&mut random);
        self.of_length(number, length)
    }

    /// A text that the demo's rules send to a person if it is one of these percent, and approve otherwise.
    pub(crate) fn with_reviews(self, number: u64, percent: u64) -> String {
        // More than one in ten is harmless.
        let harmless = (0..TRIES)
            .map(|next| self.get(number * TRIES + next))
            .find(|text| text.expected == Some(Status::Approved));
        let mut body = harmless.map_or_else(|| self.plain(number, 300), |text| text.body);
        // Neighbouring numbers differ, and each hundred has exactly as many.
        if number.wrapping_mul(61) % 100 < percent {
            let mut random = self.source(number);
            let code = format!("review-{:04}", random.random_range(0..10_000));
            insert(&mut random, &mut body, &code);
        }
        body
    }

    /// A harmless text of exactly this many bytes of plain ASCII: the typical submission of the throughput benchmark.
    pub(crate) fn plain(self, number: u64, bytes: usize) -> String {
        let mut random = self.source(number);
        let mut body = String::new();
        while body.len() < bytes {
            sentence(&mut random, &vocabulary::LANGUAGES[0], &mut body);
            body.push_str(". ");
        }
        body.truncate(bytes);
        body
    }

    fn of_length(self, number: u64, length: usize) -> Text {
        // A second source, so that lengths and words are independent.
        let mut random = self.source(number.wrapping_add(1 << 63));
        // The analyser reads only English. Half of the texts are English, so that about half of them
        // need no person.
        let english = &vocabulary::LANGUAGES[0];
        let first = if random.random_bool(0.5) {
            english
        } else {
            vocabulary::LANGUAGES.choose(&mut random).unwrap_or(english)
        };
        let mixed = random.random_bool(0.1);
        let mut body = String::new();
        while body.len() < length {
            let other = vocabulary::LANGUAGES.choose(&mut random).filter(|_| mixed);
            let language = other.unwrap_or(first);
            sentence(&mut random, language, &mut body);
            end(&mut random, language, &mut body);
        }
        let salt = salt(&mut random);
        let expected = match salt {
            Salt::None => of_harmless_words(&body),
            Salt::Blocked | Salt::Both => Some(Status::Rejected),
            Salt::Reviewed => Some(Status::PendingReview),
            Salt::Rude => None,
        };
        let blocked = matches!(salt, Salt::Blocked | Salt::Both);
        let reviewed = matches!(salt, Salt::Reviewed | Salt::Both);
        if blocked {
            insert(&mut random, &mut body, "blockedword");
        }
        if reviewed {
            let case = format!("review-{:04}", random.random_range(0..10_000));
            insert(&mut random, &mut body, &case);
        }
        if salt == Salt::Rude {
            let rude = vocabulary::RUDE.choose(&mut random).unwrap_or(&"");
            insert(&mut random, &mut body, rude);
        }
        Text { body, expected }
    }

    fn source(self, number: u64) -> StdRng {
        // An odd multiplier spreads neighbouring numbers; equal products would need 2^64 texts.
        StdRng::seed_from_u64(self.seed ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

fn salt(random: &mut StdRng) -> Salt {
    match random.random_range(0..1_000) {
        0..40 => Salt::Blocked,
        40..80 => Salt::Reviewed,
        80..85 => Salt::Both,
        85..135 => Salt::Rude,
        _ => Salt::None,
    }
}

/// Log-normal, as lengths of posts and comments are.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to a small positive range"
)]
fn length(random: &mut StdRng) -> usize {
    // The sum of twelve uniform variables is nearly normal, with variance 1.
    let normal: f64 = (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
    (MEDIAN_BYTES * (SPREAD * normal).exp()).clamp(SHORTEST_BYTES, LONGEST_BYTES) as usize
}

fn sentence(random: &mut StdRng, language: &Language, into: &mut String) {
    let words = random.random_range(3..14);
    for index in 0..words {
        let word = language.words.choose(random).unwrap_or(&"");
        match language.spacing {
            Spacing::Words if index == 0 => {
                let mut letters = word.chars();
                into.extend(letters.next().into_iter().flat_map(char::to_uppercase));
                into.push_str(letters.as_str());
            }
            Spacing::Words => {
                into.push(' ');
                into.push_str(word);
            }
            Spacing::None => into.push_str(word),
        }
        if language.spacing == Spacing::Words && index + 1 < words && random.random_bool(0.08) {
            into.push(',');
        }
    }
}

fn end(random: &mut StdRng, language: &Language, into: &mut String) {
    match random.random_range(0..20) {
        0 => into.push_str(vocabulary::EXTRAS.choose(random).unwrap_or(&"")),
        1..4 => into.push(language.marks[1]),
        _ => into.push(language.marks[0]),
    }
    into.push(if random.random_bool(0.1) { '\n' } else { ' ' });
}

/// Inserts a word into the text, at any white space.
fn insert(random: &mut StdRng, body: &mut String, word: &str) {
    let gaps: Vec<usize> = body
        .char_indices()
        .filter(|(_, c)| c.is_whitespace())
        .map(|(at, _)| at)
        .collect();
    let at = gaps.choose(random).copied().unwrap_or(body.len());
    body.insert_str(at, &format!(" {word} "));
}
