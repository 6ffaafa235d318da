//! A convolutional network: a list of layers in one file.
//!
//! Numbers of a picture are in rows from the top, each from the left, with all channels of a pixel
//! side by side. The sizes of all layers are computed and checked when the file is read, so running
//! it cannot fail.

mod read;

use crate::{
    Damaged,
    dense_layer::{Act, Machine, Packed, mean},
};

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
        let mut slots: [Vec<f32>; SLOTS] = Default::default();
        for layer in &self.layers {
            match layer {
                Layer::Keep(slot) => slots[*slot].clone_from(&now),
                Layer::Take(slot) => now.clone_from(&slots[*slot]),
                Layer::Add(slot, act) => {
                    add(self.machine, &mut now, &slots[*slot], *act);
                }
                Layer::Convolve(convolution) => {
                    convolution.run(self.machine, &now, &mut scratch, &mut next);
                    std::mem::swap(&mut now, &mut next);
                }
                Layer::Halve(from) => {
                    halve(self.machine, &now, *from, &mut next);
                    std::mem::swap(&mut now, &mut next);
                }
                Layer::Mean(from) => now = mean(&now, from.channels),
            }
        }
        // The reader has checked that there are two.
        [now.first(), now.get(1)].map(|number| number.copied().unwrap_or(f32::NAN))
    }
}

/// In how many places something can be kept for a later layer.
const SLOTS: usize = 2;

/// The size of what goes into a layer or comes out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Width and height.
    side: usize,
    channels: usize,
}

#[derive(Debug)]
enum Layer {
    /// Also a dense layer: it is a convolution of one pixel.
    Convolve(Convolution),
    /// Keeps what comes in for a later layer, in one of the [`SLOTS`].
    Keep(usize),
    /// Goes on with what was kept.
    Take(usize),
    /// Adds what was kept.
    Add(usize, Act),
    /// The largest of 3×3 pixels, at every second one.
    Halve(Shape),
    /// The mean of all pixels.
    Mean(Shape),
}

#[derive(Debug)]
struct Convolution {
    /// A row for each input: rows of the kernel, its columns, channels.
    weights: Packed,
    act: Act,
    /// Width and height of the kernel.
    kernel: usize,
    stride: usize,
    /// Pixels of zeros at the left and at the top.
    before: usize,
    from: Shape,
    /// Width and height of the result.
    side: usize,
}

impl Convolution {
    fn run(&self, machine: Machine, now: &[f32], patches: &mut Vec<f32>, next: &mut Vec<f32>) {
        let is_plain = self.kernel == 1 && self.stride == 1 && self.side == self.from.side;
        let rows = if is_plain {
            now
        } else {
            self.cut(now, patches);
            patches
        };
        machine.multiply(rows, &self.weights, self.act, next);
    }

    /// A row for each pixel of the result: what the kernel sees there.
    fn cut(&self, now: &[f32], patches: &mut Vec<f32>) {
        let Shape { side, channels } = self.from;
        patches.clear();
        patches.resize(
            self.side * self.side * self.kernel * self.kernel * channels,
            0.0,
        );
        let mut to = patches.chunks_exact_mut(self.kernel * channels);
        for y in 0..self.side {
            for x in 0..self.side {
                let left = x * self.stride;
                // The columns of the kernel that are within the picture.
                let first = self.before.saturating_sub(left).min(self.kernel);
                let end = (side + self.before).saturating_sub(left).min(self.kernel);
                for row in 0..self.kernel {
                    let Some(to) = to.next() else { return };
                    let from = (y * self.stride + row).checked_sub(self.before);
                    let Some(from) = from.filter(|from| *from < side) else {
                        continue;
                    };
                    if first < end {
                        let start = (from * side + left + first - self.before) * channels;
                        let to = &mut to[first * channels..end * channels];
                        to.copy_from_slice(&now[start..start + to.len()]);
                    }
                }
            }
        }
    }
}

fn add(machine: Machine, now: &mut [f32], kept: &[f32], act: Act) {
    machine.run(
        #[inline(always)]
        || {
            for (sum, kept) in now.iter_mut().zip(kept) {
                *sum += kept;
            }
            if act == Act::Relu {
                for sum in now {
                    *sum = sum.max(0.0);
                }
            }
        },
    );
}

fn halve(machine: Machine, now: &[f32], from: Shape, next: &mut Vec<f32>) {
    let Shape { side, channels } = from;
    let half = side / 2;
    next.clear();
    next.resize(half * half * channels, f32::MIN);
    machine.run(
        #[inline(always)]
        || {
            for (place, to) in next.chunks_exact_mut(channels).enumerate() {
                let (top, left) = (place / half * 2, place % half * 2);
                for y in top..(top + 3).min(side) {
                    for x in left..(left + 3).min(side) {
                        let start = (y * side + x) * channels;
                        for (to, from) in to.iter_mut().zip(&now[start..start + channels]) {
                            *to = to.max(*from);
                        }
                    }
                }
            }
        },
    );
}
