//! Makes a picture of any size as small as a network wants it.
//!
//! The probabilities depend on how this is done: with another method, they differ by 0.08 on
//! average. So it is done as in the reference: a triangle filter that is as wide as the step between
//! two pixels of the result, across and then down, with bytes in between. That is `BILINEAR` of
//! Pillow, computed in whole numbers as there. Ordinary rounding changes one byte of thirty by 1, and
//! one of the test pictures by 0.006. Pillow 13 shrinks some tall pictures down and then across, which
//! changes bytes by 1. Here, the order is always the same.

use std::ops::Range;

use super::Pixels;

/// Bits of a weight after the point.
const BITS: u32 = 22;
/// Where a sum begins, so that it is rounded.
const HALF: i32 = 1 << (BITS - 1);

/// The part of a row or column that makes one pixel of the result.
struct Part {
    first: usize,
    /// Their sum is 1, which is `1 << BITS`.
    weights: Vec<i32>,
}

impl Part {
    fn end(&self) -> usize {
        self.first + self.weights.len()
    }
}

/// The middle of a picture that was made `size`×`size`: rows and columns from `edge` to `size -
/// edge`, as RGB bytes.
pub(super) fn resize_middle(pixels: &Pixels<'_>, size: usize, edge: usize) -> Vec<[u8; 3]> {
    let middle = edge..size - edge;
    let across = parts(pixels.width, size, middle.clone());
    let down = parts(pixels.height, size, middle);
    let mut sums = vec![[HALF; 3]; across.len() * down.len()];
    let mut line = vec![[0_i32; 3]; across.len()];
    // Rows of the result that are complete. Parts begin and end in order.
    let mut done = 0;
    for (y, row) in pixels.rows().enumerate() {
        while down.get(done).is_some_and(|part| part.end() <= y) {
            done += 1;
        }
        let open = down[done..].iter().take_while(|part| part.first <= y);
        let mut is_made = false;
        for (part, to) in open.zip(sums[done * across.len()..].chunks_exact_mut(across.len())) {
            if !is_made {
                shrink(row, &across, &mut line);
                is_made = true;
            }
            let weight = part.weights[y - part.first];
            for (to, from) in to.as_flattened_mut().iter_mut().zip(line.as_flattened()) {
                *to += weight * from;
            }
        }
    }
    sums.into_iter().map(|pixel| pixel.map(byte)).collect()
}

/// A row of the result, rounded to bytes.
fn shrink(row: &[[u8; 3]], across: &[Part], line: &mut [[i32; 3]]) {
    for (to, part) in line.iter_mut().zip(across) {
        let mut sums = [HALF; 3];
        for (pixel, weight) in row[part.first..part.end()].iter().zip(&part.weights) {
            for (sum, byte) in sums.iter_mut().zip(pixel) {
                *sum += weight * i32::from(*byte);
            }
        }
        *to = sums.map(|sum| i32::from(byte(sum)));
    }
}

/// The byte of a sum.
fn byte(sum: i32) -> u8 {
    u8::try_from(sum >> BITS).unwrap_or(u8::MAX)
}

/// The parts for some of `to` pixels made of `from`.
fn parts(from: usize, to: usize, wanted: Range<usize>) -> Vec<Part> {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes of pictures are far under 2^53, and negative numbers become 0"
    )]
    let part = |pixel: usize| {
        let step = from as f64 / to as f64;
        let reach = step.max(1.0);
        let middle = (pixel as f64 + 0.5) * step;
        let first = (middle - reach + 0.5) as usize;
        let end = ((middle + reach + 0.5) as usize).min(from);
        let weights: Vec<f64> = (first..end)
            .map(|i| (1.0 - ((i as f64 - middle + 0.5) / reach).abs()).max(0.0))
            .collect();
        let sum: f64 = weights.iter().sum();
        let one = f64::from(1 << BITS);
        let weights = weights
            .iter()
            .map(|weight| (weight / sum * one + 0.5) as i32)
            .collect();
        Part { first, weights }
    };
    wanted.map(part).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::resize_middle;
    use crate::image::Pixels;

    #[derive(Deserialize)]
    struct Golden {
        width: u32,
        height: u32,
        /// Column, row, red, green, blue.
        pixels: Vec<[u32; 5]>,
    }

    /// `reference/image.py` makes the same picture.
    fn pattern(width: u32, height: u32) -> Vec<u8> {
        let mut rgb = Vec::new();
        for y in 0..height {
            for x in 0..width {
                for value in [x * 7 + y * 3 + x * y / 5, x * 2 + y * 11, (x ^ y) * 5] {
                    rgb.push(u8::try_from(value % 256).unwrap());
                }
            }
        }
        rgb
    }

    #[test]
    fn pictures_shrink_and_grow_as_in_pillow() {
        let golden = include_str!("../../image/golden/resize.json");
        let golden: Vec<Golden> = serde_json::from_str(golden).unwrap();
        assert_eq!(golden.len(), 8);
        for Golden {
            width,
            height,
            pixels,
        } in golden
        {
            let rgb = pattern(width, height);
            let seen = resize_middle(&Pixels::new(width, height, &rgb).unwrap(), 256, 16);
            assert_eq!(seen.len(), 224 * 224);
            for [x, y, expected @ ..] in pixels {
                let found = seen[(y * 224 + x) as usize];
                // Pillow 13 shrinks this tall picture down first. That changes bytes by 1.
                let allowed = u32::from((width, height) == (257, 400));
                let differs = found.into_iter().zip(expected);
                let most = differs
                    .map(|(found, expected)| u32::from(found).abs_diff(expected))
                    .max();
                assert!(
                    most <= Some(allowed),
                    "{width}×{height} at {x}, {y}: {found:?}, {expected:?}"
                );
            }
        }
    }
}
