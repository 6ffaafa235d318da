//! The encoder: a small BERT whose weights are bytes in the file and numbers in memory. The mean
//! over all pieces of a text leads to one output for each category.

mod layers;

use self::layers::{Block, Norm};
use super::{CATEGORIES, TextScores, normalize::normalize, wordpiece::WordPiece};
use crate::{
    Damaged,
    dense_layer::{Act, Machine, Packed, mean},
    file_reader::Reader,
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
        let encoder = read(bytes)?;
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
        let mean = mean(&now, self.width);
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

/// The categories by the names that they have in files, in our order. The first has two names.
const NAMES: [[&str; 2]; CATEGORIES] = [
    ["sexual", "adult"],
    ["hate"; 2],
    ["violence"; 2],
    ["self_harm"; 2],
    ["harassment"; 2],
];

fn read(bytes: &[u8]) -> Result<Encoder, Damaged> {
    let mut reader = Reader::new(bytes, "GHT1")?;
    let blocks = reader.count("the number of blocks", 1..=24)?;
    let width = reader.count("the width", 16..=1_024)?;
    let heads = reader.count("the number of heads", 1..=64)?;
    let wide = reader.count("the width within a block", 1..=4_096)?;
    let vocabulary = reader.count("the size of the vocabulary", 3..=200_000)?;
    let inner = reader.count("the width of embeddings", 1..=1_024)?;
    let places = reader.count("the number of places", 3..=512)?;
    reader.count("the number of categories", CATEGORIES..=CATEGORIES)?;
    if !width.is_multiple_of(16) || !width.is_multiple_of(heads) {
        return Err(Damaged::new(format!(
            "the width is {width}, which is not a multiple of 16 and of {heads}"
        )));
    }
    for names in NAMES {
        let name = text(&mut reader, "the name of a category")?;
        if !names.contains(&name) {
            return Err(Damaged::new(format!("{} has another name", names[0])));
        }
    }
    let pieces = text(&mut reader, "the vocabulary")?;
    if pieces.split('\n').count() != vocabulary {
        return Err(Damaged::new("the vocabulary has another size"));
    }
    let words = WordPiece::new(pieces)?;
    let embedding_scales = reader.floats("the scales of embeddings", vocabulary)?;
    let embeddings = reader.signed("the embeddings", vocabulary * inner)?;
    let widen = (inner != width)
        .then(|| dense(&mut reader, inner, width))
        .transpose()?;
    let embedded_places = reader.floats("the places", places * width)?;
    let first_norm = norm(&mut reader, width)?;
    let blocks = (0..blocks)
        .map(|place| {
            block(&mut reader, width, heads, wide)
                .map_err(|error| error.within(&format!("block {place}")))
        })
        .collect::<Result<_, _>>()?;
    let head = dense(&mut reader, width, CATEGORIES)?;
    let mut calibration = [[1.0, 0.0]; CATEGORIES];
    for number in calibration.as_flattened_mut() {
        *number = reader.float("the calibration")?;
    }
    reader.end()?;
    Ok(Encoder {
        machine: Machine::new(),
        words,
        embedding_scales,
        embeddings,
        inner,
        widen,
        places: embedded_places,
        width,
        norm: first_norm,
        blocks,
        head,
        calibration,
    })
}

fn block(
    reader: &mut Reader<'_>,
    width: usize,
    heads: usize,
    wide: usize,
) -> Result<Block, Damaged> {
    Ok(Block {
        heads,
        attention: dense(reader, width, 3 * width)?,
        attended: dense(reader, width, width)?,
        first_norm: norm(reader, width)?,
        up: dense(reader, width, wide)?,
        down: dense(reader, wide, width)?,
        second_norm: norm(reader, width)?,
    })
}

/// For each output a scale, then the biases, then a row of bytes for each output.
fn dense(reader: &mut Reader<'_>, inputs: usize, outputs: usize) -> Result<Packed, Damaged> {
    let scales = reader.floats("the scales", outputs)?;
    let biases = reader.floats("the biases", outputs)?;
    let weights = reader.signed("the weights", inputs * outputs)?;
    let at = |row: usize, column: usize| f32::from(weights[column * inputs + row]) * scales[column];
    Ok(Packed::new(inputs, outputs, at, biases))
}

fn norm(reader: &mut Reader<'_>, width: usize) -> Result<Norm, Damaged> {
    Ok(Norm {
        factors: reader.floats("the factors of a norm", width)?,
        summands: reader.floats("the summands of a norm", width)?,
    })
}

fn text<'a>(reader: &mut Reader<'a>, what: &str) -> Result<&'a str, Damaged> {
    let length = reader.count("the length of a text", 0..=16 << 20)?;
    let bytes = reader.take(what, length)?;
    std::str::from_utf8(bytes).map_err(|_| Damaged::new(format!("{what} is not UTF-8")))
}
