//! The kinds of layers.

use crate::dense_layer::{Act, Machine, Packed};

/// The size of what goes into a layer or comes out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Width and height.
    pub(super) side: usize,
    pub(super) channels: usize,
}

/// Where something is kept for a later layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    First,
    Second,
}

impl Slot {
    pub(super) fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

#[derive(Debug)]
pub(super) enum Layer {
    /// Also a dense layer: it is a convolution of one pixel.
    Convolve(Convolution),
    /// Keeps what comes in.
    Keep(Slot),
    /// Goes on with what was kept.
    Take(Slot),
    /// Adds what was kept.
    Add(Slot, Act),
    /// The largest of 3×3 pixels, at every second one.
    Halve(Shape),
    /// The mean of all pixels.
    Mean(Shape),
}

#[derive(Debug)]
pub(super) struct Convolution {
    /// A row for each input: rows of the kernel, its columns, channels.
    pub(super) weights: Packed,
    pub(super) act: Act,
    /// Width and height of the kernel.
    pub(super) kernel: usize,
    pub(super) stride: usize,
    /// Pixels of zeros at the left and at the top.
    pub(super) before: usize,
    pub(super) from: Shape,
    /// Width and height of the result.
    pub(super) side: usize,
}

impl Convolution {
    pub(super) fn run(
        &self,
        machine: Machine,
        now: &[f32],
        patches: &mut Vec<f32>,
        next: &mut Vec<f32>,
    ) {
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

pub(super) fn add(machine: Machine, now: &mut [f32], kept: &[f32], act: Act) {
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

pub(super) fn halve(machine: Machine, now: &[f32], from: Shape, next: &mut Vec<f32>) {
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

pub(super) fn mean(now: &[f32], from: Shape) -> Vec<f32> {
    let mut sums = vec![0.0; from.channels];
    for pixel in now.chunks_exact(from.channels) {
        for (sum, number) in sums.iter_mut().zip(pixel) {
            *sum += number;
        }
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a picture has a few hundred pixels here"
    )]
    let pixels = (from.side * from.side) as f32;
    for sum in &mut sums {
        *sum /= pixels;
    }
    sums
}
