//! What the encoder does with the rows of a window, one row for each piece.
//!
//! "Attention Is All You Need" (Vaswani and others, 2017) describes the blocks.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the call of pulp is compiled for the oldest processors"
)]

use crate::dense_layer::{Act, Machine, Packed};

/// Brings each row to a mean of 0 and a variance of 1, then scales and moves each column.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) factors: Vec<f32>,
    pub(super) summands: Vec<f32>,
}

/// Attention and two dense layers, each added to what came in.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) heads: usize,
    /// Queries, keys and values side by side.
    pub(super) attention: Packed,
    pub(super) attended: Packed,
    pub(super) first_norm: Norm,
    pub(super) up: Packed,
    pub(super) down: Packed,
    pub(super) second_norm: Norm,
}

impl Block {
    pub(super) fn run(&self, machine: Machine, now: &mut [f32]) {
        let (mut wide, mut change) = (Vec::new(), Vec::new());
        machine.multiply(now, &self.attention, Act::Nothing, &mut wide);
        let heads = self.attend(machine, &wide);
        machine.multiply(&heads, &self.attended, Act::Nothing, &mut change);
        add(now, &change);
        self.first_norm.run(machine, now);
        machine.multiply(now, &self.up, Act::Nothing, &mut wide);
        machine.run(
            #[inline(always)]
            || {
                for number in &mut wide {
                    *number = gelu(*number);
                }
            },
        );
        machine.multiply(&wide, &self.down, Act::Nothing, &mut change);
        add(now, &change);
        self.second_norm.run(machine, now);
    }

    /// Each row becomes a mean of the values of all rows, by how well its query fits their keys.
    fn attend(&self, machine: Machine, wide: &[f32]) -> Vec<f32> {
        let width = self.attention.columns() / 3;
        let size = width / self.heads;
        let rows = wide.len() / (3 * width);
        #[expect(clippy::cast_precision_loss, reason = "it is at most 1,024")]
        let scale = 1.0 / (size as f32).sqrt();
        let mut all = vec![0.0; rows * width];
        let (mut queries, mut fits, mut means) = (Vec::new(), Vec::new(), Vec::new());
        for head in 0..self.heads {
            let at = head * size;
            queries.clear();
            for row in wide.chunks_exact(3 * width) {
                queries.extend(row[at..at + size].iter().map(|number| number * scale));
            }
            let key = |i, row| wide[row * 3 * width + width + at + i];
            let keys = Packed::new(size, rows, key, Vec::new());
            machine.multiply(&queries, &keys, Act::Nothing, &mut fits);
            machine.run(
                #[inline(always)]
                || {
                    for row in fits.chunks_exact_mut(rows) {
                        softmax(row);
                    }
                },
            );
            let value = |row, i| wide[row * 3 * width + 2 * width + at + i];
            let values = Packed::new(rows, size, value, Vec::new());
            machine.multiply(&fits, &values, Act::Nothing, &mut means);
            for (to, mean) in all.chunks_exact_mut(width).zip(means.chunks_exact(size)) {
                to[at..at + size].copy_from_slice(mean);
            }
        }
        all
    }
}

fn add(now: &mut [f32], change: &[f32]) {
    for (number, change) in now.iter_mut().zip(change) {
        *number += change;
    }
}

impl Norm {
    pub(super) fn run(&self, machine: Machine, now: &mut [f32]) {
        machine.run(
            #[inline(always)]
            || self.normalise(now),
        );
    }

    #[inline(always)]
    #[expect(
        clippy::cast_precision_loss,
        reason = "a row has at most 1,024 numbers"
    )]
    fn normalise(&self, now: &mut [f32]) {
        let width = self.factors.len();
        for row in now.chunks_exact_mut(width) {
            let mean = sum(row, |number| number) / width as f32;
            let variance = sum(row, |number| (number - mean) * (number - mean)) / width as f32;
            let scale = 1.0 / (variance + 1e-12).sqrt();
            let columns = self.factors.iter().zip(&self.summands);
            for (number, (factor, summand)) in row.iter_mut().zip(columns) {
                *number = (*number - mean) * scale * factor + summand;
            }
        }
    }
}

/// Sixteen sums side by side, which vector instructions can add. The reader lets no other rows in.
#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (chunks, rest) = row.as_chunks::<16>();
    for chunk in chunks {
        for (sum, number) in sums.iter_mut().zip(chunk) {
            *sum += of(*number);
        }
    }
    for number in rest {
        sums[0] += of(*number);
    }
    sums.iter().sum()
}

/// Makes of each number its share of all, by powers of e.
#[inline(always)]
fn softmax(row: &mut [f32]) {
    let top = row.iter().fold(f32::MIN, |top, number| top.max(*number));
    for number in row.iter_mut() {
        *number = exp(*number - top);
    }
    let scale = 1.0 / sum(row, |number| number);
    for number in row {
        *number *= scale;
    }
}

/// e to a power, by a power of two and a polynomial. Unlike the standard library's, the compiler can
/// make vector instructions of it. It is within a millionth of the true value, and never 0.
#[inline(always)]
fn exp(power: f32) -> f32 {
    /// Adding this rounds to a whole number, in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let twos = power.clamp(-87.0, 88.0) * std::f32::consts::LOG2_E;
    let whole = twos + ROUND;
    let rest = (twos - (whole - ROUND)) * std::f32::consts::LN_2;
    let series = [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0]
        .iter()
        .fold(1.0 / 720.0_f32, |sum, factor| sum * rest + factor);
    f32::from_bits(series.to_bits().wrapping_add(whole.to_bits() << 23))
}

/// A number times the probability that a normally distributed one is smaller: `x·Φ(x)`.
///
/// The error function is formula 7.1.26 of Abramowitz and Stegun, within 1.5e-7.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let a = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * a);
    let series = [-1.453_152, 1.421_413_8, -0.284_496_72, 0.254_829_6]
        .iter()
        .fold(1.061_405_4_f32, |sum, factor| sum * t + factor);
    let error = 1.0 - series * t * exp(-a * a);
    0.5 * x * (1.0 + error.copysign(x))
}

#[cfg(test)]
mod tests {
    use super::{exp, gelu, softmax};

    #[test]
    fn powers_of_e_are_nearly_right() {
        for step in -8_700..8_800_i16 {
            let power = f32::from(step) / 100.0;
            let true_value = f64::from(power).exp();
            let error = (f64::from(exp(power)) / true_value - 1.0).abs();
            assert!(
                error < 1e-6 * f64::from(power.abs().max(4.0)),
                "{power}: {error}"
            );
        }
        assert!(exp(f32::MIN) > 0.0);
    }

    #[test]
    fn gelu_has_known_values() {
        // By scipy: x * scipy.stats.norm.cdf(x).
        for (x, expected) in [
            (0.0, 0.0),
            (1.0, 0.841_344_7),
            (-1.0, -0.158_655_26),
            (2.5, 2.484_475_8),
            (-3.0, -0.004_049_694),
            (9.0, 9.0),
            (-9.0, 0.0),
        ] {
            assert!((gelu(x) - expected).abs() < 1e-6, "{x}: {}", gelu(x));
        }
    }

    #[test]
    fn shares_add_up_to_one_for_any_length() {
        for length in 1..40_u8 {
            let mut row: Vec<f32> = (0..length).map(|i| f32::from(i) * 3.0 - 50.0).collect();
            softmax(&mut row);
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            assert!(row.is_sorted());
        }
    }
}
