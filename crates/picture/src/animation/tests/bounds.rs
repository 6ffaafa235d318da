//! Animations that need too much decoding or too much memory.

use super::{
    files::{Plain, claiming, gif, plain, png, webp},
    *,
};

#[test]
fn case_69_an_animation_that_takes_too_much_decoding_is_not_wholly_seen() {
    let of = |file: &[u8]| animation(file).unwrap();
    // 1.4 MB that claim 2.5 * 10^12 pixels: the canvas alone is too much.
    let huge = of(&claiming(100_000, (5_000, 5_000)));
    assert_eq!(
        (huge.frames, huge.unseen),
        (1, Some(ImageProblem::TooLarge))
    );
    assert!(huge.is_first_frame_only());
    // The canvas is not too much; the frames are.
    let long = of(&claiming(100_000, (1_000, 1_000)));
    assert_eq!(
        (long.frames, long.unseen),
        (500, Some(ImageProblem::TooLarge))
    );
    assert!(long.memory() <= 20_000_000);
    // Frames of one pixel cost something, too.
    let tiny = of(&claiming(700_000, (1, 1)));
    assert_eq!(
        (tiny.frames, tiny.unseen),
        (50_000, Some(ImageProblem::TooLarge))
    );
    // All of this is within the bounds.
    let fits = of(&claiming(500, (1_000, 1_000)));
    assert_eq!((fits.frames, fits.unseen), (500, None));
}

#[test]
fn case_69_frames_beyond_the_bound_are_not_shown_and_the_others_are() {
    let frames: Vec<Plain> = (0..10).map(|n| plain([n * 20, 0, 0])).collect();
    // Frames are counted as 10,000 pixels at least.
    let bounds = AnimationSettings {
        frames: 3,
        pixels: 60_000,
    };
    for file in [gif(&frames), png(None, &frames), webp(&frames)] {
        let animation = Animation::of(&file, &bounds, MEMORY).unwrap();
        let reel = animation.frames(&file, &limits()).unwrap();
        let numbers: Vec<_> = reel.frames.iter().map(|frame| frame.number).collect();
        assert_eq!(numbers, [0, 3, 5]);
        assert_eq!(reel.unseen, Some(ImageProblem::TooLarge));
    }
}

#[test]
fn case_69_all_renditions_together_have_a_bound() {
    const SIDE: u16 = 800;
    let palette: Vec<u8> = (0..=255)
        .flat_map(|n: u8| [n, n.wrapping_mul(7), 255 - n])
        .collect();
    let mut file = Vec::new();
    let mut encoder = ::gif::Encoder::new(&mut file, SIDE, SIDE, &palette).unwrap();
    let noise = (0..u32::from(SIDE) * u32::from(SIDE))
        .map(|i| i.wrapping_mul(2_654_435_761).to_le_bytes()[2]);
    let noise: Vec<u8> = noise.collect();
    for _ in 0..20 {
        let frame = ::gif::Frame::from_indexed_pixels(SIDE, SIDE, noise.as_slice(), None);
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    let limits = Limits {
        formats: &[ImageFormat::Jpeg],
        ..limits()
    };
    let reel = animation(&file).unwrap().frames(&file, &limits).unwrap();
    assert_eq!(reel.frames.len(), 20);
    let bytes: usize = reel.frames.iter().map(|f| f.rendition.bytes.len()).sum();
    assert!(bytes <= RENDITIONS, "{bytes}");
}
