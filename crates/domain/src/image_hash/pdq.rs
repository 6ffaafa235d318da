//! PDQ, after its description ("The TMK+PDQF video-hashing algorithm and the PDQ image-hashing
//! algorithm", 2019) and the reference implementation,
//! <https://github.com/facebook/ThreatExchange/tree/main/pdq>: luma, a tent filter down to 64 × 64,
//! the 16 × 16 lowest frequencies of a cosine transform, and for each of these whether it is above
//! their median.
//!
//! Like the reference's library, and unlike some of its command-line tools, this code does not
//! first shrink a picture to 512 pixels, so the hash does not depend on how an image library
//! shrinks pictures. Shrinking is not needed either: only 64 × 64 pixels of the filtered picture
//! are used, and no others are computed. The luma of each pixel is added to one or two sums, and
//! the memory needed is one row.

#[cfg(test)]
mod tests;

use std::{f64::consts::PI, ops::Range, sync::LazyLock};

use super::Pdq;

/// Rows and columns of the filtered picture.
const SIDE: usize = 64;
/// Rows and columns of the frequencies.
const FREQUENCIES: usize = 16;
/// Pictures with a shorter side have no hash. This is the reference's limit.
const MIN_SIDE: usize = 5;

type Small = [[f32; SIDE]; SIDE];

impl Pdq {
    /// The hash of a picture, with its quality from 0 to 100: how much it contains to recognise.
    ///
    /// `rgb` has three bytes per pixel, row by row from the top left. Pictures that are less than
    /// five pixels wide or high have a hash of zeros and no quality. The time grows with the number
    /// of pixels: about 20 ms for 12 million, and up to 13 times as much for pictures that are less
    /// than 64 pixels high.
    ///
    /// # Panics
    /// If the length of `rgb` does not fit the width and height.
    pub fn of_rgb(rgb: &[u8], width: u32, height: u32) -> (Self, u8) {
        let [width, height] = [width, height].map(|side| side as usize);
        let bytes = width
            .checked_mul(height)
            .and_then(|pixels| pixels.checked_mul(3));
        assert_eq!(
            bytes,
            Some(rgb.len()),
            "the size of the buffer does not match that of the picture"
        );
        if width < MIN_SIDE || height < MIN_SIDE {
            return (Self::from([0; 32]), 0);
        }
        let small = shrink(rgb, width, height);
        (over_median(&cosines(&small)), quality(&small))
    }
}

/// The gradients between neighbours in hundredths of the whole range, with small ones cut off,
/// divided by a scale that the reference chose by trials.
fn quality(small: &Small) -> u8 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "truncation is intended; the number is from -100 to 100"
    )]
    let gradient = |a: f32, b: f32| u32::from((((a - b) * 100.0 / 255.0) as i8).unsigned_abs());
    let across = small
        .iter()
        .flat_map(|row| row.windows(2).map(|pair| gradient(pair[0], pair[1])));
    let down = small
        .windows(2)
        .flat_map(|rows| rows[0].iter().zip(&rows[1]).map(|(a, b)| gradient(*a, *b)));
    let sum: u32 = across.chain(down).sum();
    u8::try_from(sum / 90).unwrap_or(u8::MAX).min(100)
}

/// The cosines of the 16 lowest frequencies except the constant one, at 64 places (a DCT-II).
static COSINES: LazyLock<[[f32; SIDE]; FREQUENCIES]> = LazyLock::new(|| {
    let scale = (2.0 / as_f64(SIDE)).sqrt();
    let step = PI / as_f64(2 * SIDE);
    std::array::from_fn(|frequency| {
        std::array::from_fn(|at| {
            as_f32(scale * (step * as_f64((frequency + 1) * (2 * at + 1))).cos())
        })
    })
});

/// How much of each frequency is in the picture: down the rows, along the columns.
fn cosines(small: &Small) -> [f32; FREQUENCIES * FREQUENCIES] {
    let mut output = [0.0; FREQUENCIES * FREQUENCIES];
    for (down, output) in COSINES.iter().zip(output.chunks_exact_mut(FREQUENCIES)) {
        let mut along = [0.0; SIDE];
        for (row, cosine) in small.iter().zip(down) {
            for (sum, value) in along.iter_mut().zip(row) {
                *sum += cosine * value;
            }
        }
        for (value, across) in output.iter_mut().zip(COSINES.iter()) {
            *value = across
                .iter()
                .zip(&along)
                .map(|(cosine, value)| cosine * value)
                .sum();
        }
    }
    output
}

/// One bit for each frequency; the first frequency is the last bit.
fn over_median(frequencies: &[f32; FREQUENCIES * FREQUENCIES]) -> Pdq {
    let mut sorted = *frequencies;
    // The lower one of the two middle values.
    let (_, median, _) = sorted.select_nth_unstable_by(frequencies.len() / 2 - 1, f32::total_cmp);
    let mut hash = [0; 32];
    for (bit, frequency) in frequencies.iter().enumerate() {
        hash[31 - bit / 8] |= u8::from(frequency > median) << (bit % 8);
    }
    Pdq::from(hash)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "no number of pixels here comes near 2^53"
)]
const fn as_f64(number: usize) -> f64 {
    number as f64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the reference computes in this precision"
)]
const fn as_f32(number: f64) -> f32 {
    number as f32
}

/// How one place on a side of the small picture is computed from the places on that side of the
/// large one.
#[derive(PartialEq)]
struct Tap {
    places: Range<usize>,
    /// One weight for each place; their sum is 1.
    weights: Vec<f32>,
}

/// The reference runs a box filter along each side, and then both once more, which makes a tent.
/// Then it keeps pixels at regular distances. The order of the four passes does not matter if those
/// along one side stay together. So this function gives what the two passes along one side mean for
/// the pixels that are kept.
fn taps(side: usize) -> Vec<Tap> {
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
fn shrink(rgb: &[u8], width: usize, height: usize) -> Small {
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
