//! Reads the layers of a network, and checks that each fits the one before.

use std::ops::RangeInclusive;

use super::{Convolution, Layer, SLOTS, Shape};
use crate::{
    Damaged,
    dense_layer::{Act, Packed},
    file_reader::Reader,
};

/// Limits on what a file may ask for. `open_nsfw` needs a quarter of each, or less.
const SIZES: RangeInclusive<usize> = 14..=448;
const CHANNELS: RangeInclusive<usize> = 1..=4_096;
const KERNELS: RangeInclusive<usize> = 1..=11;
/// Numbers between two layers, or cut out for one.
const NUMBERS: usize = 8 << 20;
/// Weights, after unpacking.
const WEIGHTS: usize = 64 << 20;
/// Multiplications of a run.
const WORK: usize = 4 << 30;

/// The size of the pictures, and the layers.
pub(super) fn read(bytes: &[u8]) -> Result<(usize, Vec<Layer>), Damaged> {
    let mut reader = Reader::new(bytes, "GHIM2")?;
    let size = reader.count("the size", SIZES)?;
    if !size.is_multiple_of(14) {
        return Err(Damaged::new(format!(
            "the size is {size}, which is not a multiple of 14"
        )));
    }
    reader.count("the kind of input", 1..=1)?;
    let count = reader.count("the number of layers", 1..=512)?;
    let mut state = State {
        now: Shape {
            side: size,
            channels: 3,
        },
        kept: [None; SLOTS],
        weights: 0,
        work: 0,
    };
    let mut layers = Vec::new();
    for place in 0..count {
        let layer = state
            .layer(&mut reader)
            .map_err(|error| error.within(&format!("layer {place}")))?;
        layers.push(layer);
    }
    reader.end()?;
    if state.now.side * state.now.side * state.now.channels != 2 {
        return Err(Damaged::new("its last layer does not have two outputs"));
    }
    Ok((size, layers))
}

/// What the layers so far lead to.
struct State {
    now: Shape,
    kept: [Option<Shape>; SLOTS],
    weights: usize,
    work: usize,
}

impl State {
    fn layer(&mut self, reader: &mut Reader<'_>) -> Result<Layer, Damaged> {
        match reader.count("the kind", 0..=8)? {
            0 => {
                let kernel = reader.count("the kernel", KERNELS)?;
                let inputs = reader.count("the inputs", CHANNELS)?;
                let outputs = reader.count("the outputs", CHANNELS)?;
                let stride = reader.count("the stride", 1..=8)?;
                let before = reader.count("the edge before", 0..=kernel)?;
                let after = reader.count("the edge after", 0..=kernel)?;
                let act = act(reader)?;
                let padded = self.now.side + before + after;
                let side = padded.checked_sub(kernel).ok_or_else(|| {
                    Damaged::new(format!("the kernel of {kernel} is wider than {padded}"))
                })? / stride
                    + 1;
                let from = self.now;
                expect("channels", inputs, from.channels)?;
                let weights = self.weights(reader, kernel * kernel * inputs, outputs, side)?;
                self.become_shape(side, outputs)?;
                Ok(Layer::Convolve(Convolution {
                    weights,
                    act,
                    kernel,
                    stride,
                    before,
                    from,
                    side,
                }))
            }
            3 => {
                let slot = slot(reader)?;
                self.kept[slot] = Some(self.now);
                Ok(Layer::Keep(slot))
            }
            4 => {
                let slot = slot(reader)?;
                let act = act(reader)?;
                if self.kept(slot)? != self.now {
                    return Err(Damaged::new("it adds things of different sizes"));
                }
                Ok(Layer::Add(slot, act))
            }
            5 => {
                let from = self.now;
                self.now.side = 1;
                Ok(Layer::Mean(from))
            }
            6 => {
                let inputs = reader.count("the inputs", CHANNELS)?;
                let outputs = reader.count("the outputs", CHANNELS)?;
                expect("pixels", 1, self.now.side)?;
                expect("channels", inputs, self.now.channels)?;
                let from = self.now;
                let weights = self.weights(reader, inputs, outputs, 1)?;
                self.become_shape(1, outputs)?;
                Ok(Layer::Convolve(Convolution {
                    weights,
                    act: Act::Nothing,
                    kernel: 1,
                    stride: 1,
                    before: 0,
                    from,
                    side: 1,
                }))
            }
            7 => {
                let from = self.now;
                self.become_shape(from.side / 2, from.channels)?;
                Ok(Layer::Halve(from))
            }
            8 => {
                let slot = slot(reader)?;
                self.now = self.kept(slot)?;
                Ok(Layer::Take(slot))
            }
            other => Err(Damaged::new(format!("its kind {other} is not known"))),
        }
    }

    /// The weights and biases of a layer with a result of `side`×`side` pixels.
    fn weights(
        &mut self,
        reader: &mut Reader<'_>,
        rows: usize,
        columns: usize,
        side: usize,
    ) -> Result<Packed, Damaged> {
        let pixels = side * side;
        within("numbers", pixels.saturating_mul(rows), NUMBERS)?;
        let count = rows.saturating_mul(columns);
        self.work = self.work.saturating_add(count.saturating_mul(pixels));
        within("multiplications", self.work, WORK)?;
        let unpacked = rows.saturating_mul(columns.next_multiple_of(16));
        self.weights = self.weights.saturating_add(unpacked);
        within("weights", self.weights, WEIGHTS)?;
        let weights = tensor(reader, "the weights", count, columns)?;
        let biases = tensor(reader, "the biases", columns, columns)?;
        let at = |row, column| weights[row * columns + column];
        Ok(Packed::new(rows, columns, at, biases))
    }

    fn become_shape(&mut self, side: usize, channels: usize) -> Result<(), Damaged> {
        if side == 0 {
            return Err(Damaged::new("no pixel is left"));
        }
        let numbers = side.saturating_mul(side).saturating_mul(channels);
        within("numbers", numbers, NUMBERS)?;
        self.now = Shape { side, channels };
        Ok(())
    }

    fn kept(&self, slot: usize) -> Result<Shape, Damaged> {
        self.kept[slot].ok_or_else(|| Damaged::new("it uses what was not kept"))
    }
}

fn act(reader: &mut Reader<'_>) -> Result<Act, Damaged> {
    match reader.count("the activation", 0..=2)? {
        0 => Ok(Act::Nothing),
        2 => Ok(Act::Relu),
        other => Err(Damaged::new(format!("the activation {other} is not known"))),
    }
}

fn slot(reader: &mut Reader<'_>) -> Result<usize, Damaged> {
    reader.count("the slot", 0..=SLOTS - 1)
}

/// Numbers in rows of `columns`: signed bytes with a scale for each column, or floats.
fn tensor(
    reader: &mut Reader<'_>,
    what: &str,
    count: usize,
    columns: usize,
) -> Result<Vec<f32>, Damaged> {
    if reader.count("the kind of numbers", 1..=2)? == 2 {
        return reader.floats(what, count);
    }
    let scales = reader.floats("the scales", columns)?;
    let numbers = reader.signed(what, count)?;
    let scales = scales.iter().cycle();
    Ok(numbers
        .iter()
        .zip(scales)
        .map(|(number, scale)| f32::from(*number) * scale)
        .collect())
}

fn expect(what: &str, needed: usize, found: usize) -> Result<(), Damaged> {
    if needed == found {
        Ok(())
    } else {
        Err(Damaged::new(format!(
            "it needs {needed} {what}, and gets {found}"
        )))
    }
}

fn within(what: &str, number: usize, most: usize) -> Result<(), Damaged> {
    if number <= most {
        Ok(())
    } else {
        Err(Damaged::new(format!("it needs more than {most} {what}")))
    }
}
