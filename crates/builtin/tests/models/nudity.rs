//! The model of pictures: equal to its reference, and safe with damaged files.

use std::collections::BTreeMap;

use builtin::image::{Nudity, Pixels, open_nsfw};
use proptest::prelude::*;
use serde::Deserialize;

use crate::{damage, files::bytes};

#[derive(Deserialize)]
struct Expected {
    /// By the original network in floating point.
    float: f32,
    /// By numpy with the weights in our file.
    bytes: f32,
}

struct Picture {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

impl Picture {
    fn read(name: &str) -> Self {
        let file = bytes(&format!("image/golden/{name}"));
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .expect("a PNG");
        let mut rgb = vec![0; reader.output_buffer_size().expect("a size")];
        let frame = reader.next_frame(&mut rgb).expect("pixels");
        assert_eq!(frame.color_type, png::ColorType::Rgb);
        rgb.truncate(frame.buffer_size());
        Self {
            width: frame.width,
            height: frame.height,
            rgb,
        }
    }

    fn pixels(&self) -> Pixels<'_> {
        Pixels::new(self.width, self.height, &self.rgb).expect("bytes that fit")
    }
}

fn expected() -> BTreeMap<String, Expected> {
    serde_json::from_slice(&bytes("image/golden/expected.json")).expect("a map of pictures")
}

#[test]
fn it_says_what_numpy_says_with_the_same_weights_and_nearly_what_the_original_says() {
    let expected = expected();
    assert_eq!(expected.len(), 14);
    for (name, Expected { float, bytes }) in expected {
        let ours = open_nsfw().probability(Picture::read(&name).pixels());
        assert!((ours - bytes).abs() < 5e-4, "{name}: {ours}, not {bytes}");
        assert!((ours - float).abs() < 0.02, "{name}: {ours}, not {float}");
    }
}

#[test]
fn an_old_processor_says_the_same() {
    let plain = Nudity::read(&bytes("image/open_nsfw.bin")).unwrap().plain();
    for name in ["synth_blob3.png", "synth_noise0.png"] {
        let picture = Picture::read(name);
        let ours = open_nsfw().probability(picture.pixels());
        let theirs = plain.probability(picture.pixels());
        assert!((ours - theirs).abs() < 1e-4, "{name}: {ours}, {theirs}");
    }
}

/// A network with every kind of layer, for pictures of 14 by 14.
fn small() -> Vec<u8> {
    let mut file = b"GHIM2".to_vec();
    let mut seed = 1_u32;
    let mut next = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 24) as u8
    };
    let numbers = |file: &mut Vec<u8>, numbers: &[u32]| {
        file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    };
    // Weights as bytes with a scale for each column, biases as floats.
    let mut weights = |file: &mut Vec<u8>, rows: usize, columns: usize| {
        file.extend(1_u32.to_le_bytes());
        file.extend((0..columns).flat_map(|_| 0.004_f32.to_le_bytes()));
        file.extend((0..rows * columns).map(|_| next()));
        file.extend(2_u32.to_le_bytes());
        file.extend((0..columns).flat_map(|_| 0.1_f32.to_le_bytes()));
    };
    numbers(&mut file, &[14, 1, 9]);
    numbers(&mut file, &[0, 3, 3, 4, 2, 1, 1, 2]);
    weights(&mut file, 27, 4);
    numbers(&mut file, &[3, 0]);
    numbers(&mut file, &[0, 1, 4, 4, 1, 0, 0, 0]);
    weights(&mut file, 4, 4);
    numbers(&mut file, &[4, 0, 2]);
    numbers(&mut file, &[3, 1]);
    numbers(&mut file, &[8, 0]);
    numbers(&mut file, &[7]);
    numbers(&mut file, &[5]);
    numbers(&mut file, &[6, 4, 2]);
    weights(&mut file, 4, 2);
    file
}

fn is_sound(model: &Nudity) -> bool {
    let rgb: Vec<u8> = (0..=255).cycle().take(20 * 30 * 3).collect();
    let probability = model.probability(Pixels::new(20, 30, &rgb).expect("bytes that fit"));
    (0.0..=1.0).contains(&probability)
}

#[test]
fn a_file_that_ends_early_is_refused_wherever_it_ends() {
    let file = small();
    assert!(is_sound(&Nudity::read(&file).unwrap()));
    damage::refuses_every_cut(&file, |file| Nudity::read(file).map(drop));
}

#[test]
fn no_changed_byte_makes_it_panic_or_say_nonsense() {
    let read = damage::survives_every_flip(&small(), |file| {
        Nudity::read(file).is_ok_and(|model| {
            assert!(is_sound(&model));
            true
        })
    });
    assert!(read > 100, "only {read} changed files were read");
}

#[test]
fn what_does_not_fit_is_refused_with_the_place_and_the_reason() {
    for (at, number, part) in [
        (5, 15, "the size is 15, which is not a multiple of 14"),
        (5, u32::MAX, "the size is 4294967295, not 14 to 448"),
        (9, 0, "the kind of input is 0, not 1 to 1"),
        (13, u32::MAX, "the number of layers is 4294967295"),
        (13, 8, "bytes follow its end"),
        (17, 1, "layer 0: its kind 1 is not known"),
        (21, 12, "layer 0: the kernel is 12, not 1 to 11"),
        (25, 4, "layer 0: it needs 4 channels, and gets 3"),
        (29, 4_096, "layer 0: it ends within the scales"),
        (33, 0, "layer 0: the stride is 0"),
        (45, 1, "layer 0: the activation 1 is not known"),
        (49, 0, "layer 0: the kind of numbers is 0"),
        (
            53,
            f32::NAN.to_bits(),
            "layer 0: the scales has the number NaN",
        ),
    ] {
        let mut file = small();
        file[at..at + 4].copy_from_slice(&number.to_le_bytes());
        let error = Nudity::read(&file).unwrap_err().to_string();
        assert!(error.contains(part), "{at}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_network_that_needs_too_much_memory_or_time_is_refused() {
    let file = |layers: &[&[u32]]| {
        let head = [448, 1, u32::try_from(layers.len()).unwrap()];
        let numbers = head.iter().chain(layers.iter().copied().flatten());
        let mut file = b"GHIM2".to_vec();
        file.extend(numbers.flat_map(|number| number.to_le_bytes()));
        file
    };
    for (layer, part) in [
        ([0, 1, 3, 4_096, 1, 0, 0, 0].as_slice(), "ends within"),
        (
            &[0, 11, 3, 64, 1, 5, 5, 0],
            "needs more than 8388608 numbers",
        ),
        (&[0, 5, 3, 4_096, 1, 2, 2, 0], "numbers"),
        (&[0, 2, 3, 4_096, 1, 0, 0, 0], "multiplications"),
        (&[4, 0, 0], "it uses what was not kept"),
        (&[8, 1], "it uses what was not kept"),
        (&[6, 3, 2], "it needs 1 pixels, and gets 448"),
        (&[5], "its last layer does not have two outputs"),
    ] {
        let error = Nudity::read(&file(&[layer])).unwrap_err().to_string();
        assert!(error.contains(part), "{layer:?}: {error}");
    }
}

/// A network that multiplies what is brighter than a bound until it overflows.
fn overflowing(bound: f32) -> Vec<u8> {
    let mut file = b"GHIM2".to_vec();
    let mut numbers = |numbers: &[u32]| {
        file.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    };
    let (one, large, zero) = (1_f32.to_bits(), 1e6_f32.to_bits(), 0);
    let bound = (-bound).to_bits();
    numbers(&[14, 1, 12]);
    numbers(&[0, 1, 3, 3, 1, 0, 0, 2]);
    numbers(&[2, one, zero, zero, zero, one, zero, zero, zero, one]);
    numbers(&[2, bound, bound, bound]);
    for _ in 0..8 {
        numbers(&[0, 1, 3, 3, 1, 0, 0, 0]);
        numbers(&[2, large, zero, zero, zero, large, zero, zero, zero, large]);
        numbers(&[2, zero, zero, zero]);
    }
    numbers(&[0, 1, 3, 2, 1, 0, 0, 0]);
    numbers(&[2, large, large, zero, zero, zero, zero]);
    numbers(&[2, zero, zero]);
    numbers(&[5]);
    numbers(&[6, 2, 2, 2, large, large, large, large, 2, zero, zero]);
    file
}

#[test]
fn weights_that_overflow_on_gray_are_refused() {
    let error = Nudity::read(&overflowing(0.0)).unwrap_err().to_string();
    assert!(error.contains("do not make a probability"), "{error}");
}

#[test]
fn weights_that_overflow_on_a_picture_never_say_that_it_is_safe() {
    let model = Nudity::read(&overflowing(100.0)).unwrap();
    let probability = |rgb: &[u8]| model.probability(Pixels::new(1, 1, rgb).unwrap());
    assert!((probability(&[128; 3]) - 0.5).abs() < 1e-6);
    assert!(probability(&[255; 3]) > 0.99);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Nudity::read(&bytes);
        let _ = Nudity::read(&[b"GHIM2\x0e\0\0\0\x01\0\0\0\x02\0\0\0".as_slice(), &bytes].concat());
    }
}
