//! Reads the file of an encoder.

use super::{
    Encoder,
    layers::{Block, Norm},
};
use crate::{
    Damaged,
    dense_layer::{Machine, Packed},
    file_reader::Reader,
    text::{scores::CATEGORIES, wordpiece::WordPiece},
};

/// The categories by the names that they have in files, in our order. The first has two names.
const NAMES: [[&str; 2]; CATEGORIES] = [
    ["sexual", "adult"],
    ["hate"; 2],
    ["violence"; 2],
    ["self_harm"; 2],
    ["harassment"; 2],
];

pub(super) fn read(bytes: &[u8]) -> Result<Encoder, Damaged> {
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
