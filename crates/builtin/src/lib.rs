//! The built-in analysis, which needs no key and no network: of texts by the lexicon and the models of [`text`], combined, and of
//! pictures by the model of [`image`].
//!
//! The lexicon knows words and phrases, also in disguise, and is the only one that knows open calls
//! to violence, illicit trade and spam. The linear model knows how English texts of a category
//! usually read. The encoder, an option of the operator, also knows some of what a sentence means,
//! and takes a hundred times longer. So it is asked only about texts of which the linear model is
//! not sure.
//!
//! A category is scored only if the text is English as far as one can tell. Otherwise only what the
//! lexicon finds counts, and all other categories have no score: nothing unread passes as read.
//! `docs/quality.md` has the figures.
//!
//! Each model reads its weights from one file. Two of the files are part of the program: [`text::linear`] and [`image::open_nsfw`].
//! `crates/builtin/README.md` says where all files come from, and describes their formats. Nothing of the models panics on a damaged
//! file or on any text or picture, and nothing waits: a call keeps one processor busy until it returns.

mod dense_layer;
mod file_reader;
pub mod image;
pub mod lexicon;
#[cfg(test)]
mod tests;
pub mod text;

use std::{borrow::Cow, fmt, sync::Arc};

use domain::{
    score::{Category, Scores},
    text::{Undisguised, undisguised},
};

pub use self::file_reader::Damaged;
use self::{
    lexicon::{Analyser as Lexicon, CATEGORIES as LEXICAL, Found},
    text::{Encoder, Linear, TextScores, linear},
};

/// The categories that texts are scored in.
pub const CATEGORIES: [Category; 7] = LEXICAL;

/// How much of a finding of the lexicon counts beside the models. Chosen by the development set
/// (`crates/builtin/training/figures.md`). It is all of it in violence, so that an open threat counts as much
/// as in the lexicon alone, which costs some of the average precision there. It is also all of it in
/// what the models do not know.
const LEXICON_SHARE: f64 = 0.6;

/// The share of the encoder where it is asked. The rest is the linear model's. Chosen by the
/// development set.
const ENCODER_SHARE: f32 = 0.7;

/// The encoder is asked if the linear model's highest score is between these. Most harmless texts are
/// below. Above, the encoder would rarely change what follows. On the development set, asking it about
/// every text is no better on texts that people wrote.
const UNSURE: std::ops::Range<f32> = 0.1..0.95;

/// The most windows of about 1,000 characters that the encoder reads of a text, from its beginning.
/// It needs about 100 ms for each. The linear model and the lexicon read every text to its end.
const WINDOWS: usize = 4;

/// A text of at most so many bytes is scored again as a whole, with its disguises undone. In a longer
/// one only the parts with disguises are, with [`REACH`] bytes around them, so that many disguises cost
/// little more time than the text itself.
const SHORT: usize = 512;
const REACH: usize = 120;

/// Scores texts. Immutable; make one and share it.
pub struct Analyser {
    lexicon: Lexicon,
    linear: &'static Linear,
    encoder: Option<Arc<Encoder>>,
}

impl Analyser {
    /// The lexicon and the linear model.
    pub fn new() -> Self {
        Self {
            lexicon: Lexicon::new(),
            linear: linear(),
            encoder: None,
        }
    }

    /// The same with the encoder.
    #[must_use]
    pub fn with_encoder(self, encoder: Arc<Encoder>) -> Self {
        Self {
            encoder: Some(encoder),
            ..self
        }
    }

    /// Scores a text: each of [`CATEGORIES`] if it is readable, otherwise only what the lexicon
    /// finds. A score is meant as a probability, with three digits.
    ///
    /// Without the encoder it takes some 300 to 400 µs for each kilobyte; with it up to 500 ms in addition
    /// (`docs/performance.md`).
    pub fn analyse(&self, text: &str) -> Scores {
        let Found {
            scores: found,
            is_readable,
        } = self.lexicon.look(text);
        if !is_readable {
            return found.iter().map(rounded).collect();
        }
        let models = self.models(text);
        CATEGORIES
            .into_iter()
            .map(|category| {
                let found = found.get(category).unwrap_or_default();
                let score = match modelled(&models, category) {
                    Some(model) => either(model, share(category) * found),
                    None => found,
                };
                rounded((category, score))
            })
            .collect()
    }

    /// What the models say about the text, and about its parts with their disguises undone.
    fn models(&self, text: &str) -> TextScores {
        if !text.contains(char::is_alphabetic) {
            // Nothing to read. Both models were trained with words, and say anything about a lone "?".
            return TextScores::default();
        }
        let is_short = text.len() <= SHORT;
        let reach = if is_short { usize::MAX } else { REACH };
        let Undisguised { folded, parts } = undisguised(&without_mentions(text), reach);
        let original = self.linear.scored(text);
        let mut linear = original.scores;
        let (mut worst, mut highest) = (None, linear.highest());
        let mut count = |reading, scores: TextScores| {
            linear = linear.or_higher(scores);
            if scores.highest() > highest {
                (worst, highest) = (Some(reading), scores.highest());
            }
        };
        // The models fold ASCII in the same way.
        if !text.is_ascii() {
            count(&folded, self.linear.scores(&folded));
        }
        for part in &parts {
            let scores = if is_short {
                self.linear.scores(part)
            } else {
                self.linear.scores_with(&original, part)
            };
            count(part, scores);
        }
        let Some(encoder) = &self.encoder else {
            return linear;
        };
        if !UNSURE.contains(&highest) {
            return linear;
        }
        // It is slow, so it reads one reading of a short text, and one part of a long one.
        let encoder = match worst {
            Some(reading) if is_short => encoder.scores(reading, WINDOWS),
            Some(part) => encoder
                .scores(text, WINDOWS)
                .or_higher(encoder.scores(part, 1)),
            None => encoder.scores(text, WINDOWS),
        };
        encoder.with(linear, |encoder, linear| {
            ENCODER_SHARE * encoder + (1.0 - ENCODER_SHARE) * linear
        })
    }
}

impl Default for Analyser {
    fn default() -> Self {
        Self::new()
    }
}

/// Without the models, which are large.
impl fmt::Debug for Analyser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analyser")
            .field("has_encoder", &self.encoder.is_some())
            .finish_non_exhaustive()
    }
}

/// The text without mentions such as `@name`: a reading that undoes disguises would take their sign
/// for a letter.
fn without_mentions(text: &str) -> Cow<'_, str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if !text.contains('@') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('@');
    let mut kept = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if kept.ends_with(is_word) || !part.starts_with(is_word) {
            // An address, or a sign that stands for a letter: "h@te", "@$$".
            kept.push('@');
            kept.push_str(part);
        } else {
            kept.push_str(part.trim_start_matches(is_word));
        }
    }
    Cow::Owned(kept)
}

/// What the models say about a category; none if they do not know it.
fn modelled(scores: &TextScores, category: Category) -> Option<f64> {
    let score = match category {
        Category::Adult => scores.sexual,
        Category::Violence => scores.violence,
        Category::Hate => scores.hate,
        Category::SelfHarm => scores.self_harm,
        Category::Harassment => scores.harassment,
        Category::SexualMinors | Category::Illicit | Category::Spam => return None,
    };
    Some(f64::from(score))
}

/// How much a finding of the lexicon counts beside the models.
fn share(category: Category) -> f64 {
    match category {
        Category::Adult | Category::Hate | Category::SelfHarm | Category::Harassment => {
            LEXICON_SHARE
        }
        Category::Violence | Category::SexualMinors | Category::Illicit | Category::Spam => 1.0,
    }
}

/// The probability of one or the other, if they are independent.
fn either(one: f64, other: f64) -> f64 {
    1.0 - (1.0 - one) * (1.0 - other)
}

/// A score with three digits: more would pretend to an exactness that there is not.
fn rounded((category, score): (Category, f64)) -> (Category, f64) {
    (category, (score * 1_000.0).round() / 1_000.0)
}
