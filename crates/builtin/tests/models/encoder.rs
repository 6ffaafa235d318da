//! The encoder: equal to numpy and the tokenizers of Hugging Face, and safe with damaged files.
//!
//! Most tests use a tiny encoder of random weights, which has everything that the shipped one has:
//! `reference/encoder.py` makes it.

use builtin::text::Encoder;
use proptest::prelude::*;
use serde::Deserialize;

use crate::{damage, files::bytes};

#[derive(Deserialize)]
struct Golden {
    text: String,
    windows: usize,
    scores: [f32; 5],
}

fn small() -> Vec<u8> {
    bytes("text/golden/encoder.ght")
}

/// The largest difference of a score.
fn difference(encoder: &Encoder, golden: &Golden) -> f32 {
    let ours = encoder.scores(&golden.text, golden.windows).to_array();
    let pairs = ours.into_iter().zip(golden.scores);
    pairs.fold(0.0, |most, (ours, theirs)| most.max((ours - theirs).abs()))
}

fn compare(encoder: &Encoder, golden: &[u8], allowed: f32) {
    let golden: Vec<Golden> = serde_json::from_slice(golden).expect("a list of texts");
    assert!(golden.len() > 100);
    for golden in golden {
        let difference = difference(encoder, &golden);
        assert!(difference < allowed, "{difference} for {:?}", golden.text);
    }
}

#[test]
fn it_scores_as_numpy_does() {
    let encoder = Encoder::read(&small()).unwrap();
    compare(&encoder, &bytes("text/golden/encoder.json"), 2e-5);
}

#[test]
fn an_old_processor_scores_the_same() {
    let encoder = Encoder::read(&small()).unwrap().plain();
    compare(&encoder, &bytes("text/golden/encoder.json"), 2e-5);
}

#[test]
fn what_follows_the_last_window_is_not_read() {
    let encoder = Encoder::read(&small()).unwrap();
    // Letters are pieces, and a window of this encoder has 22.
    let start = "q ".repeat(44);
    let scores = encoder.scores(&start, 2);
    for rest in ["", "z z z", "hello you idiot"] {
        assert_eq!(encoder.scores(&format!("{start}{rest}"), 2), scores);
    }
    assert_ne!(encoder.scores(&format!("{start}z z z"), 3), scores);
    assert_eq!(encoder.scores(&start, 0), encoder.scores(&start, 1));
}

#[test]
fn the_shipped_encoder_scores_as_numpy_does() {
    let encoder = Encoder::read(&bytes("text/encoder.ght")).unwrap();
    compare(&encoder, &bytes("text/golden/shipped-encoder.json"), 2e-4);
}

fn is_sound(encoder: &Encoder) -> bool {
    let scores = encoder.scores("you are an idiot!", 1).to_array();
    scores.iter().all(|score| (0.0..=1.0).contains(score))
}

#[test]
fn a_file_that_ends_early_is_refused_wherever_it_ends() {
    damage::refuses_every_cut(&small(), |file| Encoder::read(file).map(drop));
}

#[test]
fn no_changed_byte_makes_it_panic_or_say_nonsense() {
    let read = damage::survives_every_flip(&small(), |file| {
        Encoder::read(file).is_ok_and(|encoder| {
            assert!(is_sound(&encoder));
            true
        })
    });
    assert!(read > 10_000, "only {read} changed files were read");
}

#[test]
fn bytes_after_the_end_are_refused() {
    let mut file = small();
    file.push(0);
    let error = Encoder::read(&file).unwrap_err().to_string();
    assert_eq!(error, "the model's file is damaged: 1 bytes follow its end");
}

#[test]
fn what_does_not_fit_is_refused_with_the_place_and_the_reason() {
    for (at, number, part) in [
        (0, 0, "it does not begin with GHT1"),
        (4, 25, "the number of blocks is 25, not 1 to 24"),
        (4, 3, "block 2: it ends within"),
        (8, u32::MAX, "the width is 4294967295, not 16 to 1024"),
        (
            8,
            33,
            "the width is 33, which is not a multiple of 16 and of 4",
        ),
        (
            12,
            3,
            "the width is 32, which is not a multiple of 16 and of 3",
        ),
        (16, 4_096, "it ends within"),
        (20, 199_999, "the vocabulary has another size"),
        (28, 2, "the number of places is 2"),
        (32, 6, "the number of categories is 6"),
        (36, u32::MAX, "the length of a text is 4294967295"),
        (40, 0, "sexual has another name"),
        (40, u32::MAX, "the name of a category is not UTF-8"),
    ] {
        let mut file = small();
        file[at..at + 4].copy_from_slice(&number.to_le_bytes());
        let error = Encoder::read(&file).unwrap_err().to_string();
        assert!(error.contains(part), "{at}: {error}");
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    let file = small();
    let with_nan = |back| {
        let mut file = file.clone();
        let at = file.len() - back;
        file[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
        Encoder::read(&file).map(drop)
    };
    // From the end: the calibration, the biases and scales of the last layer, a norm.
    for back in [4, 40, 204, 220, 240, 244] {
        let error = with_nan(back).unwrap_err().to_string();
        assert!(error.ends_with("has the number NaN"), "{back}: {error}");
    }
    // Weights are bytes, which are always numbers.
    assert_eq!(with_nan(100), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Encoder::read(&bytes);
        let file = small();
        let at = bytes.len() * 7 % file.len();
        let mixed = [&file[..at], &bytes, &file[at..]].concat();
        if let Ok(encoder) = Encoder::read(&mixed) {
            prop_assert!(is_sound(&encoder));
        }
    }

    #[test]
    fn any_text_has_scores(text in "\\PC{0,200}|[a-z @:/.]{0,200}|.{0,50}") {
        let encoder = Encoder::read(&small()).unwrap();
        let scores = encoder.scores(&text, 2).to_array();
        prop_assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)));
    }
}
