//! A convolutional network: a list of layers in one file.
//!
//! Numbers of a picture are in rows from the top, each from the left, with all channels of a pixel
//! side by side. The sizes of all layers are computed and checked when the file is read, so running
//! it cannot fail.

mod layers;
mod read;

use self::layers::Layer;
use crate::{Damaged, dense_layer::Machine};

#[derive(Debug)]
pub(super) struct Network {
    machine: Machine,
    size: usize,
    layers: Vec<Layer>,
}

impl Network {
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let (size, layers) = read::read(bytes)?;
        Ok(Self {
            machine: Machine::new(),
            size,
            layers,
        })
    }

    pub(super) fn plain(self) -> Self {
        Self {
            machine: Machine::plain(),
            ..self
        }
    }

    /// The width and height of the pictures that it sees, a multiple of 14.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// What the last layer says of `size`·`size` pixels of three numbers.
    pub(super) fn run(&self, mut now: Vec<f32>) -> [f32; 2] {
        let (mut next, mut scratch) = (Vec::new(), Vec::new());
        let mut slots = [Vec::new(), Vec::new()];
        for layer in &self.layers {
            match layer {
                Layer::Keep(slot) => slots[slot.index()].clone_from(&now),
                Layer::Take(slot) => now.clone_from(&slots[slot.index()]),
                Layer::Add(slot, act) => {
                    layers::add(self.machine, &mut now, &slots[slot.index()], *act);
                }
                Layer::Convolve(convolution) => {
                    convolution.run(self.machine, &now, &mut scratch, &mut next);
                    std::mem::swap(&mut now, &mut next);
                }
                Layer::Halve(from) => {
                    layers::halve(self.machine, &now, *from, &mut next);
                    std::mem::swap(&mut now, &mut next);
                }
                Layer::Mean(from) => now = layers::mean(&now, *from),
            }
        }
        // The reader has checked that there are two.
        [now.first(), now.get(1)].map(|number| number.copied().unwrap_or(f32::NAN))
    }
}
