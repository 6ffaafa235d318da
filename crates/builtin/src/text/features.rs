//! The features of a text with their weights. What the model knows of a feature is far away in memory,
//! so it is fetched once, however many stretches the feature is in.

use std::ops::Range;

use super::scores::CATEGORIES;

/// A weight for each category. A weight `q` stands for `q·|q| / 127²`.
pub(super) type Weights = [i8; CATEGORIES];

/// The largest weight.
const FULL: f64 = 127.0;

/// The features of a text in their order.
pub(super) struct Features {
    /// For each feature, the number of its place. Features with one place count once.
    numbers: Vec<u32>,
    /// For each number, `q·|q|` of each category.
    weights: Vec<[i32; CATEGORIES]>,
    /// For each number, the sum in which it was counted last.
    counted: Vec<u32>,
    sums: u32,
}

impl Features {
    /// Looks features up by their hashes. The lowest bits are the place in `weights`, as many as `mask`
    /// has.
    pub(super) fn new(hashes: &[u32], mask: u32, weights: &[Weights]) -> Self {
        let mut numbers = Numbers::new(hashes.len());
        let numbered = hashes.iter().map(|hash| numbers.of(hash & mask)).collect();
        let weights: Vec<_> = numbers
            .places
            .iter()
            .map(|place| weights[*place as usize].map(|q| i32::from(q) * i32::from(q).abs()))
            .collect();
        Self {
            numbers: numbered,
            counted: vec![0; weights.len()],
            weights,
            sums: 0,
        }
    }

    /// The sum of the weights of the different features in these ranges, divided by the root of their
    /// number.
    pub(super) fn sum(
        &mut self,
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> [f64; CATEGORIES] {
        self.sums += 1;
        let (mut sums, mut count) = ([0_i64; CATEGORIES], 0_u32);
        for number in ranges.into_iter().flat_map(|range| &self.numbers[range]) {
            let number = *number as usize;
            if self.counted[number] == self.sums {
                continue;
            }
            self.counted[number] = self.sums;
            count += 1;
            for (sum, weight) in sums.iter_mut().zip(self.weights[number]) {
                *sum += i64::from(weight);
            }
        }
        let root = f64::from(count.max(1)).sqrt();
        #[expect(
            clippy::cast_precision_loss,
            reason = "far under 2^53 for a text that fits into memory"
        )]
        sums.map(|sum| sum as f64 / (root * FULL * FULL))
    }
}

/// Numbers the different places in the order in which they come.
struct Numbers {
    places: Vec<u32>,
    /// A number and one more, at the first free slot from the place on; 0 is free. At most half of
    /// the slots are taken.
    slots: Vec<u32>,
}

impl Numbers {
    fn new(most: usize) -> Self {
        Self {
            places: Vec::with_capacity(most),
            slots: vec![0; (2 * most).next_power_of_two()],
        }
    }

    fn of(&mut self, place: u32) -> u32 {
        let last = self.slots.len() - 1;
        let mut slot = place as usize & last;
        while let Some(number) = self.slots[slot].checked_sub(1) {
            if self.places[number as usize] == place {
                return number;
            }
            slot = (slot + 1) & last;
        }
        #[expect(clippy::cast_possible_truncation, reason = "no text has 2^32 features")]
        let number = self.places.len() as u32;
        self.places.push(place);
        self.slots[slot] = number + 1;
        number
    }
}

#[cfg(test)]
mod tests {
    use std::{ops::Range, slice};

    use super::{CATEGORIES, Features};

    #[test]
    fn a_feature_counts_once_in_each_sum() {
        let weights = [
            [127; CATEGORIES],
            [-127; CATEGORIES],
            [0; CATEGORIES],
            [63; CATEGORIES],
        ];
        // The places 0, 1, 0, 3, 0.
        let hashes = [4, 1, 8, 7, 0];
        let mut features = Features::new(&hashes, 3, &weights);
        let half = (63.0 * 63.0) / (127.0 * 127.0);
        let mut sum = |ranges: &[Range<usize>]| features.sum(ranges.iter().cloned())[0];
        for (start, end, expected) in [
            (0, 1, 1.0),
            (0, 3, 0.0),
            (0, 5, half / 3.0_f64.sqrt()),
            (3, 5, (1.0 + half) / 2.0_f64.sqrt()),
            (2, 2, 0.0),
        ] {
            let sum = sum(slice::from_ref(&(start..end)));
            assert!((sum - expected).abs() < 1e-12, "{start}..{end}: {sum}");
        }
        assert!((sum(&[0..1, 2..3]) - 1.0).abs() < 1e-12);
    }
}
