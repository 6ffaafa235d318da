//! The linear model: a sum over hashed words, pairs of words and parts of words, one byte for each
//! weight.
//!
//! A long text counts half as a whole and half by its worst stretch of forty words. Otherwise one
//! bad sentence would disappear in a long harmless text.

use std::ops::Range;

use super::{
    CATEGORIES, TextScores,
    features::{Features, HashedFeatures, Weights},
    normalize::normalize,
};
use crate::{Damaged, file_reader::Reader};

/// Words in a stretch, and between the starts of two stretches.
const STRETCH: usize = 40;
const STEP: usize = 20;

/// What the model says about each category before that becomes a probability.
type Logits = [f32; CATEGORIES];

/// Scores a text in the time of a few thousand additions.
#[derive(Debug)]
pub struct Linear {
    mask: u32,
    scales: [f32; CATEGORIES],
    biases: [f32; CATEGORIES],
    /// For each place, the weights of the words and pairs that are there.
    words: Vec<Weights>,
    /// The same for parts of words.
    parts: Vec<Weights>,
    /// What makes probabilities of the sums: a factor and a summand for each category.
    calibration: [[f32; 2]; CATEGORIES],
}

impl Linear {
    /// Reads a file in the format `CLF1` (`crates/builtin/README.md`).
    pub fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut reader = Reader::new(bytes, "CLF1")?;
        let power = reader.count("the number of bits", 1..=24)?;
        reader.count("the number of categories", CATEGORIES..=CATEGORIES)?;
        let scales = numbers(&mut reader, "the scales")?;
        let biases = numbers(&mut reader, "the biases")?;
        let words = weights(&mut reader, "the weights of words", power)?;
        let parts = weights(&mut reader, "the weights of parts", power)?;
        let mut calibration = [[1.0, 0.0]; CATEGORIES];
        if reader.skip("PLT1") {
            for pair in &mut calibration {
                *pair = numbers(&mut reader, "the calibration")?;
            }
        }
        reader.end()?;
        Ok(Self {
            mask: (1 << power) - 1,
            scales,
            biases,
            words,
            parts,
            calibration,
        })
    }

    /// Scores a text of any length and in any form. The time grows linearly with the length.
    ///
    /// The model knows English only. For an empty text, and for one in another language, the scores
    /// say how likely each category was in training.
    pub fn scores(&self, text: &str) -> TextScores {
        self.scored(text).scores
    }

    /// Scores a text as [`scores`](Self::scores) does, so that it can be scored with a part of it read
    /// differently, too.
    pub fn scored(&self, text: &str) -> Scored {
        let (whole, worst) = self.logits(text);
        Scored {
            scores: self.calibrated(whole, worst),
            whole,
            worst,
        }
    }

    /// Scores a long text of which a part can also be read like this. The worst stretch can be one of
    /// the part. The text as a whole counts as it was, because a part of it changes little.
    pub fn scores_with(&self, text: &Scored, part: &str) -> TextScores {
        let (_, worst) = self.logits(part);
        self.calibrated(text.whole, higher(text.worst, worst))
    }

    fn calibrated(&self, whole: Logits, worst: Logits) -> TextScores {
        TextScores::from_logits(std::array::from_fn(|category| {
            let [factor, summand] = self.calibration[category];
            factor * f32::midpoint(whole[category], worst[category]) + summand
        }))
    }

    /// Of the whole text, and the highest of its stretches.
    fn logits(&self, text: &str) -> (Logits, Logits) {
        let hashes = HashedFeatures::new(&normalize(text));
        let tokens = hashes.tokens.len();
        let words = [&hashes.tokens[..], &hashes.pairs].concat();
        let mut words = Features::new(&words, self.mask, &self.words);
        let mut parts = Features::new(&hashes.parts, self.mask, &self.parts);
        let mut of = |range: Range<usize>| {
            let (alone, pairs) = hashes.tokens_and_pairs(&range);
            let pairs = tokens + pairs.start..tokens + pairs.end;
            let words = words.sum([alone, pairs]);
            let parts = parts.sum([hashes.parts(&range)]);
            std::array::from_fn(|category| {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "the rest works with f32, as the training did"
                )]
                let sum = (words[category] + parts[category]) as f32;
                sum * self.scales[category] + self.biases[category]
            })
        };
        let whole = of(0..hashes.len());
        let mut worst = whole;
        if hashes.len() > STRETCH {
            for first in (0..hashes.len() - STEP).step_by(STEP) {
                let end = hashes.len().min(first + STRETCH);
                worst = higher(worst, of(first..end));
            }
        }
        (whole, worst)
    }
}

/// A text that was scored.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// Its scores.
    pub scores: TextScores,
    whole: Logits,
    worst: Logits,
}

fn higher(one: Logits, other: Logits) -> Logits {
    std::array::from_fn(|category| one[category].max(other[category]))
}

fn numbers<const N: usize>(reader: &mut Reader<'_>, what: &str) -> Result<[f32; N], Damaged> {
    let mut numbers = [0.0; N];
    for number in &mut numbers {
        *number = reader.float(what)?;
    }
    Ok(numbers)
}

fn weights(
    reader: &mut Reader<'_>,
    what: &str,
    power: usize,
) -> Result<Vec<[i8; CATEGORIES]>, Damaged> {
    let weights = reader.take(what, CATEGORIES << power)?;
    let (rows, _) = weights.as_chunks::<CATEGORIES>();
    Ok(rows.iter().map(|row| row.map(u8::cast_signed)).collect())
}
