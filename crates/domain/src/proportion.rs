//! Shares of a number of trials, and how certain they are.

/// The normal distribution's quantile for an interval of 95 %.
pub const Z95: f64 = 1.959_963_984_540_054;

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proportion {
    /// How many had the property.
    pub hits: u64,
    /// How many there were.
    pub of: u64,
}

/// Both ends of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Proportion {
    /// Counts one more.
    pub const fn add(&mut self, is_hit: bool) {
        self.of += 1;
        if is_hit {
            self.hits += 1;
        }
    }

    /// The share, from 0 to 1; none of nothing.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| real(self.hits) / real(self.of))
    }

    /// The Wilson score interval of 95 % (E. B. Wilson, 1927). It is right for few trials and near 0 and 1, too. None of nothing.
    pub fn wilson(self) -> Option<Interval> {
        let share = self.share()?;
        let trials = real(self.of);
        let square = Z95 * Z95;
        let scale = 1.0 + square / trials;
        let centre = (share + square / (2.0 * trials)) / scale;
        let spread = share * (1.0 - share) / trials + square / (4.0 * trials * trials);
        let half = Z95 * spread.sqrt() / scale;
        Some(Interval {
            low: (centre - half).clamp(0.0, share),
            high: (centre + half).clamp(share, 1.0),
        })
    }
}

/// The value that `percent` % of the values do not exceed: the nearest rank. The values are sorted. None of nothing.
pub fn quantile<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent.min(100)).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

/// A count as a number to calculate with: exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "as documented")]
pub const fn real(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn intervals_are_those_of_the_literature() {
        // R. G. Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
        for (hits, of, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let interval = Proportion { hits, of }.wilson().unwrap();
            assert!((interval.low - low).abs() < 5e-5, "{hits} {interval:?}");
            assert!((interval.high - high).abs() < 5e-5, "{hits} {interval:?}");
        }
        assert_eq!(Proportion::default().share(), None);
        assert_eq!(Proportion::default().wilson(), None);
    }

    #[test]
    fn quantiles_are_values_by_their_nearest_rank() {
        for (values, percent, expected) in [
            (&[][..], 50, None),
            (&[7], 1, Some(7)),
            (&[7], 99, Some(7)),
            (&[1, 2, 3, 4], 50, Some(2)),
            (&[1, 2, 3, 4, 5], 50, Some(3)),
            (&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 90, Some(9)),
            (&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 99, Some(10)),
            (&[1, 2], 0, Some(1)),
        ] {
            assert_eq!(quantile(values, percent), expected, "{values:?} {percent}");
        }
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_share_and_narrows_with_more_trials(of in 1_u64..100_000, part in 0.0..=1.0) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and `of`")]
            let hits = (real(of) * part) as u64;
            let few = Proportion { hits, of };
            let many = Proportion { hits: hits * 10, of: of * 10 };
            let (few, many, share) = (few.wilson().unwrap(), many.wilson().unwrap(), few.share().unwrap());
            prop_assert!(0.0 <= few.low && few.low <= share && share <= few.high && few.high <= 1.0);
            prop_assert!(many.high - many.low < few.high - few.low);
        }
    }
}
