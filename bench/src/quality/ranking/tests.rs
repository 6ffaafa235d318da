//! Average precisions by hand, by scikit-learn and by their properties, and intervals of scripted draws.

use domain::precision_recall::points;
use proptest::prelude::*;

use super::*;
use crate::quality::calibration::Calibration;

fn average(pairs: &[(f64, bool)]) -> Option<f64> {
    Ranking::new(pairs.iter().copied()).average_precision()
}

fn near(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 1e-12)
}

/// Draws that anybody can repeat: the generator of Numerical Recipes, "an even quicker and dirtier generator".
fn draws(mut state: u32) -> impl FnMut(Range<usize>) -> usize {
    move |range| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        range.start + (state >> 8) as usize % range.len()
    }
}

/// What the numbers of scikit-learn below are about.
const FIXED: [(f64, bool); 20] = [
    (0.92, true),
    (0.85, true),
    (0.85, false),
    (0.74, true),
    (0.61, false),
    (0.61, true),
    (0.61, true),
    (0.55, false),
    (0.42, false),
    (0.42, true),
    (0.33, false),
    (0.27, false),
    (0.27, true),
    (0.18, false),
    (0.18, false),
    (0.12, false),
    (0.07, false),
    (0.07, true),
    (0.02, false),
    (0.02, false),
];

#[test]
fn averages_are_those_calculated_by_hand() {
    for (pairs, expected) in [
        // Precision 1 at recall 1/2, and 2/3 at recall 1.
        (
            &[(0.9, true), (0.5, false), (0.4, true)][..],
            0.5 + 0.5 * 2.0 / 3.0,
        ),
        // The same in another order of the items.
        (
            &[(0.4, true), (0.9, true), (0.5, false)],
            0.5 + 0.5 * 2.0 / 3.0,
        ),
        // A tie is one threshold: precision 1/2 at recall 1/2, and 2/3 at recall 1.
        (
            &[(0.9, true), (0.9, false), (0.4, true)],
            0.25 + 0.5 * 2.0 / 3.0,
        ),
        (
            &[(0.9, false), (0.9, true), (0.4, true)],
            0.25 + 0.5 * 2.0 / 3.0,
        ),
        // All the wrong way round.
        (&[(0.9, false), (0.8, false), (0.1, true)], 1.0 / 3.0),
        // Zeros of both signs are equal.
        (&[(0.0, true), (-0.0, false)], 0.5),
        // A score that is no number is found last.
        (
            &[(f64::NAN, true), (0.0, false), (0.1, true)],
            0.5 + 0.5 * 2.0 / 3.0,
        ),
        (&[(0.3, true)], 1.0),
    ] {
        assert!(
            near(average(pairs), expected),
            "{pairs:?}: {:?}",
            average(pairs)
        );
    }
}

#[test]
fn one_class_alone_has_an_average_only_if_it_is_positive() {
    assert_eq!(average(&[]), None);
    assert_eq!(average(&[(0.9, false), (0.2, false)]), None);
    assert!(near(average(&[(0.9, true), (0.2, true)]), 1.0));
    let none = Ranking::new([(0.9, false)]);
    assert_eq!(none.items(), Proportion { hits: 0, of: 1 });
    assert_eq!(none.interval(100, draws(1)), None);
    assert_eq!(Ranking::new([]).interval(100, draws(1)), None);
    assert_eq!(Ranking::new([(0.9, true)]).interval(0, draws(1)), None);
}

#[test]
fn figures_of_a_fixed_set_are_those_of_scikit_learn() {
    // scikit-learn 1.9.1, with the columns of `FIXED` as s and y (1 and 0):
    // python -c "from sklearn.metrics import *; from sklearn.calibration import calibration_curve; s=[...]; y=[...];
    //     print(average_precision_score(y, s)); print(precision_recall_curve(y, s)); print(calibration_curve(y, s, n_bins=10))"
    assert!(near(average(&FIXED), 0.678_518_009_768_009_8));
    for (threshold, precision, recall) in [
        (0.02, 0.4, 1.0),
        (0.07, 0.444_444_44, 1.0),
        (0.12, 0.4375, 0.875),
        (0.18, 0.466_666_67, 0.875),
        (0.27, 0.538_461_54, 0.875),
        (0.33, 0.545_454_55, 0.75),
        (0.42, 0.6, 0.75),
        (0.55, 0.625, 0.625),
        (0.61, 0.714_285_71, 0.625),
        (0.74, 0.75, 0.375),
        (0.85, 0.666_666_67, 0.25),
        (0.92, 1.0, 0.125),
    ] {
        let point = points(&[threshold], FIXED)[0];
        for (found, expected) in [(point.precision, precision), (point.recall, recall)] {
            let found = found.share().unwrap();
            assert!((found - expected).abs() < 5e-9, "{threshold}: {found}");
        }
    }
    let bins = Calibration::new(FIXED).bins();
    for (bin, mean_score, share) in [
        (0, 0.045, 0.25),
        (1, 0.16, 0.0),
        (2, 0.27, 0.5),
        (3, 0.33, 0.0),
        (4, 0.42, 0.5),
        (5, 0.55, 0.0),
        (6, 0.61, 0.666_666_67),
        (7, 0.74, 1.0),
        (8, 0.85, 0.5),
        (9, 0.92, 1.0),
    ] {
        let bin = bins[bin];
        assert!(near(bin.mean_score, mean_score), "{bin:?}");
        assert!((bin.items.share().unwrap() - share).abs() < 5e-9, "{bin:?}");
    }
}

#[test]
fn an_interval_is_of_the_averages_of_what_was_drawn() {
    let ranking = Ranking::new([(0.9, true), (0.5, false)]);
    // Items are in falling order of their scores. Both, in any order: 1. Twice the positive one: 1. Twice the other: none.
    let mut script = [0, 1, 1, 0, 0, 0, 1, 1].into_iter();
    let interval = ranking.interval(4, |_| script.next().unwrap());
    assert_eq!(
        interval,
        Some(Interval {
            low: 1.0,
            high: 1.0
        })
    );
    let ranking = Ranking::new([(0.9, false), (0.5, true), (0.4, false)]);
    // One positive after no, one and two negatives.
    let mut script = [1, 2, 2, 0, 1, 2, 0, 0, 1].into_iter();
    let interval = ranking.interval(3, |_| script.next().unwrap());
    assert_eq!(
        interval,
        Some(Interval {
            low: 1.0 / 3.0,
            high: 1.0
        })
    );
}

#[test]
fn an_interval_leaves_out_the_same_number_of_averages_at_both_ends() {
    // A hundred draws of three items: the positive one after one negative, three times each with both or no negatives.
    let ranking = Ranking::new([(0.9, false), (0.5, true), (0.4, false)]);
    for (extremes, expected) in [(2, (0.5, 0.5)), (3, (1.0 / 3.0, 1.0))] {
        let mut draw = 0;
        let mut item = 0;
        let interval = ranking.interval(100, |_| {
            let drawn = match draw {
                early if early < extremes => [1, 2, 2],
                early if early < 2 * extremes => [0, 0, 1],
                _ => [0, 1, 2],
            }[item];
            item = (item + 1) % 3;
            draw += usize::from(item == 0);
            drawn
        });
        let interval = interval.unwrap();
        assert_eq!((interval.low, interval.high), expected, "{extremes}");
    }
}

#[test]
fn an_interval_holds_the_average_and_narrows_with_more_items() {
    let few = Ranking::new(FIXED);
    let many = Ranking::new((0..10).flat_map(|_| FIXED));
    let (narrow, wide) = (
        many.interval(1_000, draws(7)).unwrap(),
        few.interval(1_000, draws(7)).unwrap(),
    );
    let average = few.average_precision().unwrap();
    assert!(near(many.average_precision(), average));
    assert!(wide.low < narrow.low && narrow.low < average);
    assert!(average < narrow.high && narrow.high < wide.high);
    assert_eq!(few.interval(1_000, draws(7)), Some(wide));
}

fn some_pairs() -> impl Strategy<Value = Vec<(f64, bool)>> {
    // A hundred different scores, so that ties are usual.
    prop::collection::vec(
        (
            (0..=100_u32).prop_map(|score| f64::from(score) / 100.0),
            any::<bool>(),
        ),
        1..200,
    )
}

proptest! {
    #[test]
    fn a_perfect_ranking_has_the_average_one(pairs in some_pairs()) {
        let perfect = pairs.iter().map(|(score, is_positive)| {
            (if *is_positive { score + 2.0 } else { *score }, *is_positive)
        });
        let ranking = Ranking::new(perfect);
        match ranking.items().hits {
            0 => prop_assert_eq!(ranking.average_precision(), None),
            _ => prop_assert!(near(ranking.average_precision(), 1.0)),
        }
    }

    #[test]
    fn equal_scores_have_the_share_of_positives(pairs in some_pairs(), score in 0.0..=1.0) {
        let ranking = Ranking::new(pairs.into_iter().map(|(_, is_positive)| (score, is_positive)));
        let share = ranking.items().share().unwrap();
        match ranking.items().hits {
            0 => prop_assert_eq!(ranking.average_precision(), None),
            _ => prop_assert!(near(ranking.average_precision(), share)),
        }
    }

    #[test]
    fn only_the_order_of_scores_counts(pairs in some_pairs()) {
        let plain = average(&pairs);
        for transform in [
            |score: f64| score / 2.0 + 0.25,
            |score: f64| score.powi(3),
            |score: f64| (score * 4.0).exp(),
        ] {
            let transformed = pairs.iter().map(|(score, is_positive)| (transform(*score), *is_positive));
            let ranking = Ranking::new(transformed);
            match plain {
                None => prop_assert_eq!(ranking.average_precision(), None),
                Some(plain) => prop_assert!(near(ranking.average_precision(), plain)),
            }
        }
    }

    #[test]
    fn an_average_is_the_sum_over_the_points_of_all_scores(pairs in some_pairs()) {
        let mut scores: Vec<f64> = pairs.iter().map(|(score, _)| *score).collect();
        scores.sort_by(f64::total_cmp);
        scores.dedup();
        let mut all = points(&scores, pairs.iter().copied());
        all.reverse();
        let (mut sum, mut before) = (0.0, 0.0);
        for point in all {
            let recall = point.recall.share().unwrap_or(0.0);
            sum += (recall - before) * point.precision.share().unwrap();
            before = recall;
        }
        if let Some(average) = average(&pairs) {
            prop_assert!((average - sum).abs() < 1e-9);
        }
    }
}
