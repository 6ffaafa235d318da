//! The linear model: a sum over hashed words, pairs of words and parts of words, one byte for each
//! weight.
//!
//! A long text counts half as a whole and half by its worst stretch of forty words. Otherwise one
//! bad sentence would disappear in a long harmless text.

use std::ops::Range;

use super::{
    fold::fold,
    hashes::Hashes,
    scores::{CATEGORIES, TextScores},
};
use crate::{Damaged, reader::Reader};

/// Words in a stretch, and between the starts of two stretches.
const STRETCH: usize = 40;
const STEP: usize = 20;

/// The largest weight in the file.
const FULL: f64 = 127.0;

/// Scores a text in the time of a few thousand additions.
#[derive(Debug)]
pub struct Linear {
    mask: u32,
    scales: [f32; CATEGORIES],
    biases: [f32; CATEGORIES],
    /// For each hash, a weight for each category. A weight `q` stands for `q·|q| / 127²`.
    words: Vec<[i8; CATEGORIES]>,
    parts: Vec<[i8; CATEGORIES]>,
    /// What makes probabilities of the sums: a factor and a summand for each category.
    calibration: [[f32; 2]; CATEGORIES],
}

impl Linear {
    /// Reads a file in the format `CLF1` (`models/README.md`).
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
        let hashes = Hashes::new(&fold(text));
        let mut seen = Seen::new(self.mask);
        let whole = self.logits(&hashes, 0..hashes.len(), &mut seen);
        let mut worst = whole;
        if hashes.len() > STRETCH {
            for first in (0..hashes.len() - STEP).step_by(STEP) {
                let end = hashes.len().min(first + STRETCH);
                let stretch = self.logits(&hashes, first..end, &mut seen);
                for (worst, stretch) in worst.iter_mut().zip(stretch) {
                    *worst = worst.max(stretch);
                }
            }
        }
        TextScores::from_logits(std::array::from_fn(|category| {
            let [factor, summand] = self.calibration[category];
            factor * f32::midpoint(whole[category], worst[category]) + summand
        }))
    }

    fn logits(&self, hashes: &Hashes, range: Range<usize>, seen: &mut Seen) -> [f32; CATEGORIES] {
        let words = sum(hashes.words(&range), &self.words, seen);
        let parts = sum(hashes.parts(&range), &self.parts, seen);
        std::array::from_fn(|category| {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the rest works with f32, as the training did"
            )]
            let sum = ((words[category] + parts[category]) / (FULL * FULL)) as f32;
            sum * self.scales[category] + self.biases[category]
        })
    }
}

/// The sum of the weights at the different ones of these hashes, divided by the root of their
/// number.
fn sum(
    hashes: impl Iterator<Item = u32>,
    weights: &[[i8; CATEGORIES]],
    seen: &mut Seen,
) -> [f64; CATEGORIES] {
    let mut sums = [0_i64; CATEGORIES];
    for place in hashes {
        let Some(place) = seen.mark(place) else {
            continue;
        };
        for (sum, weight) in sums.iter_mut().zip(weights[place]) {
            let weight = i32::from(weight);
            *sum += i64::from(weight * weight.abs());
        }
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "both are far under 2^53 for a text that fits into memory"
    )]
    {
        let root = (seen.clear().max(1) as f64).sqrt();
        sums.map(|sum| sum as f64 / root)
    }
}

/// Which places were counted already: one bit for each.
struct Seen {
    mask: u32,
    bits: Vec<u64>,
    marked: Vec<usize>,
}

impl Seen {
    fn new(mask: u32) -> Self {
        Self {
            mask,
            bits: vec![0; mask as usize / 64 + 1],
            marked: Vec::new(),
        }
    }

    /// The place of a hash, if it was not marked before.
    fn mark(&mut self, hash: u32) -> Option<usize> {
        let place = (hash & self.mask) as usize;
        let (bits, bit) = (&mut self.bits[place / 64], 1 << (place % 64));
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new.then(|| {
            self.marked.push(place);
            place
        })
    }

    /// Forgets all places. Returns how many they were.
    fn clear(&mut self) -> usize {
        for place in &self.marked {
            self.bits[place / 64] = 0;
        }
        let marked = self.marked.len();
        self.marked.clear();
        marked
    }
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
