//! How well a score finds what it should find: precision and recall for a row of thresholds.
//!
//! It knows nothing but pairs of a score and whether the answer is positive. Where these come from
//! is the caller's affair: people's decisions for the reports of the review desk, labels for
//! `gatehouse-bench quality`.

use crate::proportion::Proportion;

/// The thresholds .05, .10, ... .95.
pub fn steps() -> [f64; 19] {
    let mut number = 0.0;
    [(); 19].map(|()| {
        number += 1.0;
        number / 20.0
    })
}

/// What a threshold would have found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The threshold. A score that equals it reaches it.
    pub threshold: f64,
    /// Of what reaches it, how much is positive.
    pub precision: Proportion,
    /// Of what is positive, how much reaches it.
    pub recall: Proportion,
}

/// The points for these thresholds, the lowest first. A score that is no number reaches none.
pub fn points(thresholds: &[f64], pairs: impl IntoIterator<Item = (f64, bool)>) -> Vec<Point> {
    let mut thresholds = thresholds.to_vec();
    thresholds.sort_by(f64::total_cmp);
    // By the number of thresholds that a score reaches: how many scores, and how many of them are positive.
    let mut reached = vec![Proportion::default(); thresholds.len() + 1];
    for (score, is_positive) in pairs {
        let place = thresholds.partition_point(|threshold| *threshold <= score);
        reached[place].add(is_positive);
    }
    let positives = reached.iter().map(|part| part.hits).sum();
    let groups = thresholds.into_iter().zip(reached.into_iter().skip(1));
    let mut above = Proportion::default();
    let mut points: Vec<Point> = groups
        .rev()
        .map(|(threshold, group)| {
            above.hits += group.hits;
            above.of += group.of;
            Point {
                threshold,
                precision: above,
                recall: Proportion {
                    hits: above.hits,
                    of: positives,
                },
            }
        })
        .collect();
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(hits: u64, of: u64) -> Proportion {
        Proportion { hits, of }
    }

    #[test]
    fn steps_are_the_numbers_that_people_write() {
        let written = steps().map(|step| step.to_string()).join(" ");
        assert_eq!(
            written,
            "0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 0.45 0.5 0.55 0.6 0.65 0.7 0.75 0.8 0.85 0.9 0.95"
        );
    }

    #[test]
    fn a_threshold_finds_what_reaches_it() {
        let pairs = [
            (0.9, true),
            (0.5, false),
            (0.5, true),
            (0.2, true),
            (0.1, false),
            (f64::NAN, true),
        ];
        let found = points(&[0.95, 0.5, 0.15], pairs);
        let expected = [
            (0.15, part(3, 4), part(3, 4)),
            (0.5, part(2, 3), part(2, 4)),
            (0.95, part(0, 0), part(0, 4)),
        ];
        let expected = expected.map(|(threshold, precision, recall)| Point {
            threshold,
            precision,
            recall,
        });
        assert_eq!(found, expected);
        assert_eq!(points(&[], pairs), []);
        let of_nothing = points(&[0.5], []);
        assert_eq!(
            (of_nothing[0].precision, of_nothing[0].recall),
            (part(0, 0), part(0, 0))
        );
    }

    proptest! {
        #[test]
        fn a_higher_threshold_finds_less_and_each_point_is_what_counting_says(
            pairs in prop::collection::vec((0.0..=1.0, any::<bool>()), 0..200),
        ) {
            let found = points(&steps(), pairs.clone());
            for window in found.windows(2) {
                prop_assert!(window[1].recall.hits <= window[0].recall.hits);
                prop_assert!(window[1].precision.of <= window[0].precision.of);
            }
            for point in found {
                let reaching = pairs.iter().filter(|(score, _)| *score >= point.threshold);
                let positive = reaching.clone().filter(|(_, positive)| *positive).count() as u64;
                prop_assert_eq!(point.precision, part(positive, reaching.count() as u64));
                let positives = pairs.iter().filter(|(_, positive)| *positive).count() as u64;
                prop_assert_eq!(point.recall, part(positive, positives));
            }
        }
    }
}
