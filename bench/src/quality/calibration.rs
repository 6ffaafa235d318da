//! Whether scores can be read as probabilities: of what scores about .7, about 70 % should be positive.

use domain::proportion::{Proportion, real};

/// How many bins there are.
const BINS: usize = 10;

/// Scores from 0 to 1 in ten bins of equal width.
#[derive(Clone, Debug, Default)]
pub(super) struct Calibration {
    counted: [Counted; BINS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    items: Proportion,
    sum: f64,
}

/// Scores that are close to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bin {
    /// The lowest score of the bin.
    pub(super) from: f64,
    /// The lowest score of the next bin. The last bin includes 1.
    pub(super) to: f64,
    /// Items with such a score, and how many of them are positive.
    pub(super) items: Proportion,
    /// The mean of their scores. None without items.
    pub(super) mean_score: Option<f64>,
}

impl Calibration {
    /// Counts pairs of a score and whether the answer is positive. A score that is no number does not count.
    pub(super) fn new(pairs: impl IntoIterator<Item = (f64, bool)>) -> Self {
        let mut all = Self::default();
        for (score, is_positive) in pairs {
            if score.is_nan() {
                continue;
            }
            // A score belongs to a bin if it reaches the bin's lowest score, as it reaches a threshold.
            let reached = (1..BINS).filter(|bin| edge(*bin) <= score).count();
            let bin = &mut all.counted[reached];
            bin.items.add(is_positive);
            bin.sum += score;
        }
        all
    }

    /// The bins, the lowest first.
    pub(super) fn bins(&self) -> [Bin; BINS] {
        let mut place = 0;
        self.counted.map(|Counted { items, sum }| {
            place += 1;
            Bin {
                from: edge(place - 1),
                to: edge(place),
                items,
                mean_score: (items.of > 0).then(|| sum / real(items.of)),
            }
        })
    }

    /// The expected calibration error, from 0 to 1: how far the mean score of a bin is from its share of positives, as the
    /// mean over all items (M. P. Naeini and others, 2015). 0 means that scores are probabilities. None without items.
    pub(super) fn expected_error(&self) -> Option<f64> {
        let of: u64 = self.counted.iter().map(|bin| bin.items.of).sum();
        let apart = self
            .counted
            .iter()
            .map(|bin| (bin.sum - real(bin.items.hits)).abs());
        (of > 0).then(|| apart.sum::<f64>() / real(of))
    }
}

/// Where a bin begins.
fn edge(bin: usize) -> f64 {
    real(bin as u64) / real(BINS as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-12)
    }

    #[test]
    fn scores_are_in_the_bin_that_they_reach() {
        let pairs = [
            (0.0, false),
            (0.3, true),
            (0.3, false),
            (0.399_999, false),
            (0.4, true),
            (1.0, true),
            (f64::NAN, true),
        ];
        let bins = Calibration::new(pairs).bins();
        let counted = bins.map(|bin| (bin.items.hits, bin.items.of));
        assert_eq!(
            counted,
            [
                (0, 1),
                (0, 0),
                (0, 0),
                (1, 3),
                (1, 1),
                (0, 0),
                (0, 0),
                (0, 0),
                (0, 0),
                (1, 1)
            ]
        );
        assert_eq!((bins[3].from, bins[3].to, bins[9].to), (0.3, 0.4, 1.0));
        assert!(near(bins[3].mean_score, 0.333_333));
        assert_eq!(bins[1].mean_score, None);
    }

    #[test]
    fn the_error_is_the_mean_distance_of_scores_and_shares() {
        // By hand: |.2 - 1/2| * 2 + |.6 - 0| * 1 + |.95 - 1| * 1, divided by 4.
        let pairs = [(0.2, true), (0.2, false), (0.6, false), (0.95, true)];
        assert!(near(Calibration::new(pairs).expected_error(), 0.3125));
        assert!(near(
            Calibration::new([(1.0, true), (0.0, false)]).expected_error(),
            0.0
        ));
        assert!(near(
            Calibration::new([(1.0, false), (0.0, true)]).expected_error(),
            1.0
        ));
        assert_eq!(Calibration::new([]).expected_error(), None);
    }

    proptest! {
        #[test]
        fn each_item_is_in_one_bin_and_the_error_is_a_share(
            pairs in prop::collection::vec((0.0..=1.0, any::<bool>()), 1..200),
        ) {
            let all = Calibration::new(pairs.clone());
            let bins = all.bins();
            prop_assert_eq!(bins.iter().map(|bin| bin.items.of).sum::<u64>(), pairs.len() as u64);
            for bin in bins {
                prop_assert!(bin.mean_score.is_none_or(|mean| bin.from <= mean && mean <= bin.to + 1e-12));
            }
            prop_assert!(all.expected_error().is_some_and(|error| (0.0..=1.0).contains(&error)));
        }
    }
}
