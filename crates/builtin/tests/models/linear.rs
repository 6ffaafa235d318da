//! The linear model: equal to scikit-learn, and safe with damaged files.

use builtin::text::{Linear, TextScores};
use proptest::prelude::*;
use serde::Deserialize;

use crate::files::bytes;

#[derive(Deserialize)]
struct Golden {
    text: String,
    scores: [f32; 5],
}

fn golden() -> Vec<Golden> {
    serde_json::from_slice(&bytes("text/golden/linear.json")).expect("a list of texts")
}

#[test]
fn it_scores_as_scikit_learn_does() {
    let golden = golden();
    assert!(golden.len() > 300);
    for Golden { text, scores } in golden {
        let ours = builtin::text::linear().scores(&text).to_array();
        for (ours, theirs) in ours.into_iter().zip(scores) {
            assert!(
                (ours - theirs).abs() < 1e-5,
                "{ours} instead of {theirs} for {text:?}"
            );
        }
    }
}

#[test]
fn a_sentence_counts_less_in_a_long_text_but_does_not_disappear() {
    let sentence = "you are such a pathetic idiot, everybody hates you";
    let harmless = "the train was on time and the museum opened late after dinner ".repeat(50);
    let score = |text: &str| builtin::text::linear().scores(text).harassment;
    let mixed = score(&format!("{harmless} {sentence} {harmless}"));
    assert!(score(&harmless) < 0.05, "{}", score(&harmless));
    assert!(score(sentence) > 0.9, "{}", score(sentence));
    assert!(mixed > 4.0 * score(&harmless), "{mixed}");
}

/// A file with two places for hashes, and its lengths at which it may end.
fn small(calibrated: bool) -> (Vec<u8>, Vec<usize>) {
    let mut file = b"CLF1".to_vec();
    file.extend(1_u32.to_le_bytes());
    file.extend(5_u32.to_le_bytes());
    for number in [2.0_f32; 5].into_iter().chain([-0.5; 5]) {
        file.extend(number.to_le_bytes());
    }
    file.extend((0..20).map(|weight: u8| weight.wrapping_mul(37)));
    let mut ends = vec![file.len()];
    if calibrated {
        file.extend(b"PLT1");
        for number in [0.5_f32, 0.25].repeat(5) {
            file.extend(number.to_le_bytes());
        }
        ends.push(file.len());
    }
    (file, ends)
}

#[test]
fn a_file_that_ends_early_is_refused_wherever_it_ends() {
    let (file, ends) = small(true);
    for end in 0..=file.len() {
        let read = Linear::read(&file[..end]);
        assert_eq!(read.is_ok(), ends.contains(&end), "{end}: {read:?}");
    }
}

#[test]
fn bytes_after_the_end_are_refused() {
    for calibrated in [false, true] {
        let (mut file, _) = small(calibrated);
        file.push(0);
        let error = Linear::read(&file).unwrap_err().to_string();
        assert_eq!(error, "the model's file is damaged: 1 bytes follow its end");
    }
}

#[test]
fn huge_counts_and_numbers_that_are_none_are_refused() {
    for (at, number, part) in [
        (4, 25, "the number of bits is 25, not 1 to 24"),
        (4, u32::MAX, "the number of bits is 4294967295, not 1 to 24"),
        (4, 24, "it ends within the weights of words: 64 bytes"),
        (8, 6, "the number of categories is 6, not 5 to 5"),
        (12, f32::NAN.to_bits(), "the scales has the number NaN"),
        (28, f32::INFINITY.to_bits(), "the scales has the number inf"),
        (32, 1e30_f32.to_bits(), "the biases has the number"),
        (76, f32::NAN.to_bits(), "the calibration has the number NaN"),
    ] {
        let (mut file, _) = small(true);
        file[at..at + 4].copy_from_slice(&number.to_le_bytes());
        let error = Linear::read(&file).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_calibration_changes_the_sum_before_the_logistic_function() {
    let logit = |probability: f32| (probability / (1.0 - probability)).ln();
    let text = "two words";
    let plain = Linear::read(&small(false).0).unwrap().scores(text);
    let calibrated = Linear::read(&small(true).0).unwrap().scores(text);
    for (plain, calibrated) in plain.to_array().into_iter().zip(calibrated.to_array()) {
        let expected = 0.5 * logit(plain) + 0.25;
        assert!((logit(calibrated) - expected).abs() < 1e-4);
    }
}

fn are_probabilities(scores: TextScores) -> bool {
    scores
        .to_array()
        .iter()
        .all(|score| (0.0..=1.0).contains(score))
}

#[test]
fn no_changed_byte_makes_it_panic_or_say_nonsense() {
    let (file, _) = small(true);
    for at in 0..file.len() {
        for bit in 0..8 {
            let mut file = file.clone();
            file[at] ^= 1 << bit;
            if let Ok(model) = Linear::read(&file) {
                assert!(
                    are_probabilities(model.scores("a text of words")),
                    "{at} {bit}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Linear::read(&bytes);
        let file = [b"CLF1\x01\0\0\0\x05\0\0\0".as_slice(), &bytes].concat();
        if let Ok(model) = Linear::read(&file) {
            prop_assert!(are_probabilities(model.scores("a text of words")));
        }
    }

    #[test]
    fn any_text_has_scores(text in "\\PC{0,400}|[a-z @:/.]{0,400}|.{0,50}") {
        prop_assert!(are_probabilities(builtin::text::linear().scores(&text)));
    }
}
