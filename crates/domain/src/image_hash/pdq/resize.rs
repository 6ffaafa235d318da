//! Filters a picture and shrinks it to 64 × 64.

use std::ops::Range;

use super::{SIDE, Small, as_f32, as_f64};

/// How one place on a side of the small picture is computed from the places on that side of the
/// large one.
#[derive(PartialEq)]
pub(super) struct Tap {
    pub(super) places: Range<usize>,
    /// One weight for each place; their sum is 1.
    pub(super) weights: Vec<f32>,
}

/// The reference runs a box filter along each side, and then both once more, which makes a tent.
/// Then it keeps pixels at regular distances. The order of the four passes does not matter if those
/// along one side stay together. So this function gives what the two passes along one side mean for
/// the pixels that are kept.
pub(super) fn taps(side: usize) -> Vec<Tap> {
    let window = side.div_ceil(2 * SIDE);
    let ahead = window / 2;
    let back = window - 1 - ahead;
    // At the edges the window is cut off.
    let seen = |at: usize| at.saturating_sub(back)..(at + ahead + 1).min(side);
    let tap = |small: usize| {
        let second = seen((2 * small + 1) * side / (2 * SIDE));
        let places = seen(second.start).start..seen(second.end - 1).end;
        // The difference between the weight of a place and the one before it. So the time is
        // linear, however long the side is.
        let mut steps = vec![0.0; places.len() + 1];
        for first in second.clone().map(seen) {
            let share = 1.0 / as_f64(second.len() * first.len());
            steps[first.start - places.start] += share;
            steps[first.end - places.start] -= share;
        }
        let mut sum = 0.0;
        let weights = steps[..places.len()].iter().map(|step| {
            sum += step;
            as_f32(sum)
        });
        Tap {
            weights: weights.collect(),
            places,
        }
    };
    (0..SIDE).map(tap).collect()
}

/// The luma of the picture, filtered and reduced to 64 × 64.
pub(super) fn shrink(rgb: &[u8], width: usize, height: usize) -> Small {
    let (across, down) = (taps(width), taps(height));
    let mut small = [[0.0; SIDE]; SIDE];
    let mut row = vec![0.0; width];
    for (at, tap) in down.iter().enumerate() {
        // In pictures of less than 64 rows, some rows are used more than once.
        if at > 0 && *tap == down[at - 1] {
            small[at] = small[at - 1];
            continue;
        }
        row.fill(0.0);
        let rows = &rgb[tap.places.start * width * 3..tap.places.end * width * 3];
        for (pixels, weight) in rows.chunks_exact(width * 3).zip(&tap.weights) {
            for (sum, pixel) in row.iter_mut().zip(pixels.chunks_exact(3)) {
                *sum += weight * luma(pixel);
            }
        }
        for (value, tap) in small[at].iter_mut().zip(&across) {
            let places = row[tap.places.clone()].iter();
            *value = places
                .zip(&tap.weights)
                .map(|(luma, weight)| luma * weight)
                .sum();
        }
    }
    small
}

/// The luma of a pixel, from 0 to 255 (ITU-R BT.601).
fn luma(pixel: &[u8]) -> f32 {
    0.299 * f32::from(pixel[0]) + 0.587 * f32::from(pixel[1]) + 0.114 * f32::from(pixel[2])
}
