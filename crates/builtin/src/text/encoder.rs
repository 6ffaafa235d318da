//! The encoder: a small BERT whose weights are bytes in the file and numbers in memory. The mean
//! over all pieces of a text leads to one output for each category.

mod layers;
mod read;

use self::layers::{Block, Norm};
use super::{
    normalize::normalize,
    scores::{CATEGORIES, TextScores},
    wordpiece::WordPiece,
};
use crate::{
    Damaged,
    dense_layer::{Act, Machine, Packed},
};

/// Pieces of a text that are seen together, at most: as in training.
const WINDOW: usize = 254;

/// Scores a text in milliseconds. It knows more than [`Linear`](super::Linear), takes a hundred
/// times longer, and needs about 80 MB.
#[derive(Debug)]
pub struct Encoder {
    machine: Machine,
    words: WordPiece,
    /// For each piece a scale, and `inner` numbers.
    embedding_scales: Vec<f32>,
    embeddings: Vec<i8>,
    inner: usize,
    /// From `inner` numbers to `width`, if these differ.
    widen: Option<Packed>,
    /// For each place in a window, `width` numbers.
    places: Vec<f32>,
    width: usize,
    norm: Norm,
    blocks: Vec<Block>,
    head: Packed,
    calibration: [[f32; 2]; CATEGORIES],
}

impl Encoder {
    /// Reads a file in the format `GHT1` (`crates/builtin/README.md`), and tries it on an empty text.
    pub fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let encoder = read::read(bytes)?;
        if encoder.logits(&[]).iter().any(|logit| logit.is_nan()) {
            return Err(Damaged::new("its numbers do not make a score"));
        }
        Ok(encoder)
    }

    /// The same model without the instructions that only newer processors have. It is much slower.
    /// For tests and benchmarks.
    pub fn plain(self) -> Self {
        Self {
            machine: Machine::plain(),
            ..self
        }
    }

    /// Scores a text in any form.
    ///
    /// The text is read in windows of 254 pieces (about 1,000 characters) one after the other, at
    /// most so many of them and at least one. What follows them is not read. The highest score of
    /// all windows counts, category by category. The time grows linearly with the number of windows.
    ///
    /// The model knows English only. Weights that overflow on this text say nothing. Then the score is
    /// 1, so that a person looks at it.
    pub fn scores(&self, text: &str, windows: usize) -> TextScores {
        let window = WINDOW.min(self.places.len() / self.width - 2);
        let limit = windows.max(1).saturating_mul(window);
        let pieces = self.words.pieces(&normalize(text), limit);
        let mut highest = [f32::MIN; CATEGORIES];
        let mut rest = pieces.as_slice();
        loop {
            let (window, after) = rest.split_at(rest.len().min(window));
            for (highest, logit) in highest.iter_mut().zip(self.logits(window)) {
                let logit = if logit.is_nan() { f32::MAX } else { logit };
                *highest = highest.max(logit);
            }
            if after.is_empty() {
                break;
            }
            rest = after;
        }
        TextScores::from_logits(highest)
    }

    /// What it says about some pieces, calibrated, before the logistic function.
    fn logits(&self, pieces: &[u32]) -> [f32; CATEGORIES] {
        let [before, after] = self.words.around;
        let pieces = std::iter::once(before)
            .chain(pieces.iter().copied())
            .chain([after]);
        let mut now = self.embed(pieces);
        for block in &self.blocks {
            block.run(self.machine, &mut now);
        }
        let mean = layers::mean(&now, self.width);
        let mut outputs = Vec::new();
        self.machine
            .multiply(&mean, &self.head, Act::Nothing, &mut outputs);
        std::array::from_fn(|category| {
            let [factor, summand] = self.calibration[category];
            outputs[category] * factor + summand
        })
    }

    /// A row of `width` numbers for each piece at its place.
    fn embed(&self, pieces: impl Iterator<Item = u32>) -> Vec<f32> {
        let mut now = Vec::new();
        for piece in pieces {
            let piece = piece as usize;
            let row = &self.embeddings[piece * self.inner..][..self.inner];
            let scale = self.embedding_scales[piece];
            now.extend(row.iter().map(|number| f32::from(*number) * scale));
        }
        if let Some(widen) = &self.widen {
            let mut wide = Vec::new();
            self.machine.multiply(&now, widen, Act::Nothing, &mut wide);
            now = wide;
        }
        for (number, place) in now.iter_mut().zip(&self.places) {
            *number += place;
        }
        self.norm.run(self.machine, &mut now);
        now
    }
}
