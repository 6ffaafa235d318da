//! What both larger models do: mostly `C = act(A·B + bias)`, on one processor.
//!
//! `pulp` runs a function compiled for AVX2 where the processor has it. The loops are plain Rust in
//! such an order that the compiler makes vector instructions of them.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into the call of pulp is compiled for the oldest processors"
)]

use pulp::Arch;

/// What is done with each sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Nothing,
    /// Negative sums become 0.
    Relu,
}

/// Columns that are computed together.
const WIDE: usize = 16;
/// Rows that are computed together: as many as the registers of AVX2 hold, or of SSE2.
const HIGH: usize = 6;
const HIGH_PLAIN: usize = 4;

/// A matrix in panels of [`WIDE`] columns, the last one filled up with zeros, and a number to add to
/// each column.
#[derive(Debug)]
pub(crate) struct Packed {
    rows: usize,
    columns: usize,
    panels: Vec<f32>,
    bias: Vec<f32>,
}

impl Packed {
    /// `at` gives the number in a row and a column, of which there is at least one. An empty bias adds
    /// nothing.
    pub(crate) fn new(
        rows: usize,
        columns: usize,
        at: impl Fn(usize, usize) -> f32,
        mut bias: Vec<f32>,
    ) -> Self {
        let panels = columns.div_ceil(WIDE);
        let mut data = vec![0.0; panels * rows * WIDE];
        for (panel, lines) in data.chunks_exact_mut(rows * WIDE).enumerate() {
            let first = panel * WIDE;
            for (row, line) in lines.chunks_exact_mut(WIDE).enumerate() {
                for (column, number) in (first..columns).zip(line) {
                    *number = at(row, column);
                }
            }
        }
        bias.resize(panels * WIDE, 0.0);
        Self {
            rows,
            columns,
            panels: data,
            bias,
        }
    }

    /// The numbers of a row of the product.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}

/// What the processor can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine {
    arch: Arch,
    /// It multiplies and adds in one instruction. Elsewhere that would be a slow function.
    fused: bool,
}

impl Machine {
    /// This processor.
    pub(crate) fn new() -> Self {
        #[cfg(target_arch = "x86_64")]
        let fused = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
        #[cfg(not(target_arch = "x86_64"))]
        let fused = cfg!(target_arch = "aarch64");
        Self {
            arch: Arch::new(),
            fused,
        }
    }

    /// The oldest processor of this kind.
    pub(crate) fn plain() -> Self {
        Self {
            arch: Arch::Scalar,
            fused: false,
        }
    }

    /// Runs a function that was compiled for this processor.
    #[inline(always)]
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        self.arch.dispatch(work)
    }

    /// `to` becomes as many rows of `b.columns` as `a` has of `b.rows`.
    pub(crate) fn multiply(self, a: &[f32], b: &Packed, act: Act, to: &mut Vec<f32>) {
        to.clear();
        to.resize(a.len() / b.rows * b.columns, 0.0);
        if self.fused {
            self.run(
                #[inline(always)]
                || multiply::<HIGH, true>(a, b, act, to),
            );
        } else {
            self.run(
                #[inline(always)]
                || multiply::<HIGH_PLAIN, false>(a, b, act, to),
            );
        }
    }
}

#[inline(always)]
fn multiply<const H: usize, const FUSED: bool>(a: &[f32], b: &Packed, act: Act, to: &mut [f32]) {
    // The rows of `a` side by side, so that the inner loop reads both matrices from start to end.
    let mut side_by_side = vec![[0.0; H]; b.rows];
    let blocks = to.chunks_mut(H * b.columns);
    for (rows, to) in a.chunks(H * b.rows).zip(blocks) {
        for (place, row) in rows.chunks_exact(b.rows).enumerate() {
            for (numbers, number) in side_by_side.iter_mut().zip(row) {
                numbers[place] = *number;
            }
        }
        let panels = b.panels.as_chunks::<WIDE>().0.chunks_exact(b.rows);
        for (panel, (lines, bias)) in panels.zip(b.bias.as_chunks::<WIDE>().0).enumerate() {
            let sums = tile::<H, FUSED>(&side_by_side, lines);
            let first = panel * WIDE;
            let width = WIDE.min(b.columns - first);
            for (mut sums, to) in sums.into_iter().zip(to.chunks_exact_mut(b.columns)) {
                for (sum, bias) in sums.iter_mut().zip(bias) {
                    *sum += bias;
                }
                if act == Act::Relu {
                    for sum in &mut sums {
                        *sum = sum.max(0.0);
                    }
                }
                to[first..first + width].copy_from_slice(&sums[..width]);
            }
        }
    }
}

/// The sums of [`WIDE`] columns for `H` rows.
#[inline(always)]
fn tile<const H: usize, const FUSED: bool>(a: &[[f32; H]], b: &[[f32; WIDE]]) -> [[f32; WIDE]; H] {
    let mut sums = [[0.0_f32; WIDE]; H];
    for (a, b) in a.iter().zip(b) {
        for row in 0..H {
            for column in 0..WIDE {
                let sum = &mut sums[row][column];
                *sum = if FUSED {
                    a[row].mul_add(b[column], *sum)
                } else {
                    a[row] * b[column] + *sum
                };
            }
        }
    }
    sums
}

/// The mean of rows of this width.
#[expect(
    clippy::cast_precision_loss,
    reason = "there are at most a few hundred rows"
)]
pub(crate) fn mean(now: &[f32], width: usize) -> Vec<f32> {
    let mut mean = vec![0.0; width];
    for row in now.chunks_exact(width) {
        for (sum, number) in mean.iter_mut().zip(row) {
            *sum += number;
        }
    }
    let rows = (now.len() / width) as f32;
    for number in &mut mean {
        *number /= rows;
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::{Act, Machine, Packed};

    #[test]
    fn products_are_right_for_every_remainder_of_rows_and_columns() {
        let number = |seed: usize| f32::from(u8::try_from(seed * 7919 % 23).unwrap()) - 11.0;
        for machine in [Machine::new(), Machine::plain()] {
            for (high, inner, wide) in [(1, 1, 1), (5, 3, 15), (6, 8, 16), (7, 5, 17), (13, 9, 40)]
            {
                for act in [Act::Nothing, Act::Relu] {
                    let a: Vec<f32> = (0..high * inner).map(number).collect();
                    let bias: Vec<f32> = (0..wide).map(|i| number(i + 5)).collect();
                    let at = |row, column| number(row * wide + column + 3);
                    let packed = Packed::new(inner, wide, at, bias.clone());
                    let mut found = vec![f32::NAN; 3];
                    machine.multiply(&a, &packed, act, &mut found);
                    let mut expected = Vec::new();
                    for row in a.chunks_exact(inner) {
                        for (column, bias) in bias.iter().enumerate() {
                            let products = row.iter().enumerate().map(|(i, a)| a * at(i, column));
                            let sum = products.sum::<f32>() + bias;
                            expected.push(if act == Act::Relu { sum.max(0.0) } else { sum });
                        }
                    }
                    assert_eq!(found, expected, "{high} {inner} {wide} {act:?} {machine:?}");
                }
            }
        }
    }
}
