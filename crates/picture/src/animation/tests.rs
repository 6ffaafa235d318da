//! Ordinary animations, malicious ones, and files that were cut off.

mod bounds;
mod damage;
mod drawing;
mod files;

use std::fs;

use self::files::{Plain, RED, gif, plain, png, webp};
use super::*;
use crate::{Limits, Picture};

/// Enough for all files that are not huge.
const MEMORY: u64 = 128 << 20;

fn limits() -> Limits {
    Limits {
        bytes: 10 << 20,
        min_side: 1,
        max_side: 2_048,
        formats: &[ImageFormat::Png],
    }
}

fn settings(frames: usize) -> AnimationSettings {
    AnimationSettings {
        frames,
        ..AnimationSettings::default()
    }
}

fn animation(file: &[u8]) -> Option<Animation> {
    Animation::of(file, &settings(20), MEMORY)
}

/// The colours in the middle of both halves.
fn halves(frame: &Frame) -> [[u8; 3]; 2] {
    let picture = Picture::decode(&frame.rendition.bytes).unwrap();
    let (width, height) = (picture.width() as usize, picture.height() as usize);
    [1, 3].map(|quarter| {
        let at = height / 2 * width + width * quarter / 4;
        picture.rgb()[at * 3..][..3].try_into().unwrap()
    })
}

/// A frame's number, and the colours in the middle of both its halves.
type Seen = (usize, [[u8; 3]; 2]);

/// The frames that are shown, and why that is not all.
fn shown(file: &[u8], most: usize) -> (Vec<Seen>, Option<ImageProblem>) {
    let animation = Animation::of(file, &settings(most), MEMORY).unwrap();
    let reel = animation.frames(file, &limits()).unwrap();
    let frames = reel.frames.iter();
    (
        frames.map(|frame| (frame.number, halves(frame))).collect(),
        reel.unseen,
    )
}

fn both(color: [u8; 3]) -> [[u8; 3]; 2] {
    [color; 2]
}

#[test]
fn the_first_the_last_and_evenly_spaced_frames_are_chosen() {
    assert_eq!(chosen(100, 1), [0]);
    assert_eq!(chosen(100, 2), [0, 99]);
    assert_eq!(chosen(101, 5), [0, 25, 50, 75, 100]);
    assert_eq!(chosen(7, 5), [0, 2, 3, 5, 6]);
    assert_eq!(chosen(3, 5), [0, 1, 2]);
    assert_eq!(chosen(1, 5), [0]);
    for frames in 1..200 {
        for most in 1..=20 {
            let chosen = chosen(frames, most);
            assert_eq!(chosen.len(), frames.min(most));
            assert!(chosen.is_sorted_by(|a, b| a < b), "{chosen:?}");
            assert_eq!(chosen[0], 0);
            if most > 1 {
                assert_eq!(chosen[chosen.len() - 1], frames - 1);
            }
        }
    }
}

#[test]
fn the_chosen_frames_of_every_format_are_shown() {
    let colors: Vec<[u8; 3]> = (0..30_u8).map(|n| [n * 8, 255 - n * 8, 0]).collect();
    let frames: Vec<Plain> = colors.iter().map(|color| plain(*color)).collect();
    for file in [gif(&frames), png(None, &frames), webp(&frames)] {
        let (seen, unseen) = shown(&file, 3);
        let expected = [0, 15, 29].map(|number| (number, both(colors[number])));
        assert_eq!(seen, expected);
        assert_eq!(unseen, None);
        assert_eq!(shown(&file, 1).0, expected[..1]);
    }
}

#[test]
fn a_file_with_one_frame_is_a_still_picture() {
    let one = [plain(RED)];
    for file in [gif(&one), png(None, &one), webp(&one)] {
        assert!(animation(&file).is_none());
        assert!(Picture::decode(&file).is_ok());
    }
    // Without its trailer, and with the padding of some writers.
    let mut file = gif(&one);
    file.pop();
    assert!(animation(&file).is_none());
    file.extend([0; 20]);
    assert!(animation(&file).is_none());
}

#[test]
fn every_still_fixture_is_one_and_every_animated_fixture_none() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/images");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let file = fs::read(&path).unwrap();
        let Some(animation) = animation(&file) else {
            assert!(!name.starts_with("animated"), "{name}");
            continue;
        };
        assert!(name.starts_with("animated"), "{name}");
        assert_eq!(animation.unseen(), None, "{name}");
        let reel = animation.frames(&file, &limits()).unwrap();
        assert!(reel.frames.len() > 1, "{name}");
        assert_eq!(reel.unseen, None, "{name}");
        // The first frame is the still picture.
        let still = Picture::decode(&file).unwrap();
        let first = Picture::decode(&reel.frames[0].rendition.bytes).unwrap();
        assert_eq!(first.rgb(), still.rgb(), "{name}");
    }
}
