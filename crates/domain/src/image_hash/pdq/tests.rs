//! The filter and the quality, compared with the reference.

use proptest::prelude::*;

use super::*;

/// The reference's filter, pass by pass over the whole picture.
fn boxed(values: &[f64]) -> Vec<f64> {
    let (side, window) = (values.len(), values.len().div_ceil(128));
    let half = window / 2 + 1;
    let mean = |at: usize| {
        let seen = &values[(at + half).saturating_sub(window)..(at + half).min(side)];
        seen.iter().sum::<f64>() / as_f64(seen.len())
    };
    (0..side).map(mean).collect()
}

proptest! {
    #[test]
    fn the_taps_are_two_passes_of_the_reference_s_filter(
        values in prop::collection::vec(0.0..255.0, 5..2_000),
    ) {
        let filtered = boxed(&boxed(&values));
        for (small, tap) in taps(values.len()).iter().enumerate() {
            let kept = filtered[(2 * small + 1) * values.len() / 128];
            let weighted = values[tap.places.clone()].iter().zip(&tap.weights);
            let sum: f64 = weighted.map(|(value, weight)| value * f64::from(*weight)).sum();
            prop_assert!((sum - kept).abs() < 1e-3, "{small}: {sum} for {kept}");
        }
    }

    #[test]
    fn every_picture_has_a_hash_whatever_its_sides(
        width in 0..70_u32, height in 0..70_u32, long in any::<bool>(), seed in any::<u8>(),
    ) {
        let width = if long { width * 20 } else { width };
        let bytes = (0..width * height * 3).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8 ^ seed);
        let (hash, quality) = Pdq::of_rgb(&bytes.collect::<Vec<_>>(), width, height);
        prop_assert!(quality <= 100);
        if width < 5 || height < 5 {
            prop_assert_eq!((hash, quality), (Pdq::from([0; 32]), 0));
        }
    }
}

#[test]
fn one_colour_has_no_quality() {
    for colour in [0, 127, 255] {
        let (_, quality) = Pdq::of_rgb(&vec![colour; 300 * 200 * 3], 300, 200);
        assert_eq!(quality, 0);
    }
}

#[test]
#[should_panic(expected = "the size of the buffer")]
fn a_buffer_of_another_size_is_refused() {
    Pdq::of_rgb(&[0; 11], 2, 2);
}
