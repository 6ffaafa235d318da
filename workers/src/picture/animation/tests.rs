//! Animations as others make them, as attackers do, and as files are cut off.

use std::fs;

use ::png::{Compression, Encoder};
use image::{DynamicImage, RgbaImage, codecs::webp::WebPEncoder};

use super::{
    canvas::{Area, Dispose},
    *,
};
use crate::picture::Picture;

const WIDTH: u32 = 16;
const HEIGHT: u32 = 8;
/// Enough for whatever is not huge.
const MEMORY: u64 = 128 << 20;

const WHITE: [u8; 3] = [255; 3];
const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 255, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const BLACK: [u8; 3] = [0, 0, 0];

/// A frame in one colour, or none, over some of the canvas.
#[derive(Clone, Copy)]
struct Plain {
    area: Area,
    rgba: [u8; 4],
    dispose: Dispose,
    is_blended: bool,
}

const ALL: Area = Area {
    left: 0,
    top: 0,
    width: WIDTH,
    height: HEIGHT,
};
const LEFT: Area = Area {
    width: WIDTH / 2,
    ..ALL
};

fn plain([r, g, b]: [u8; 3]) -> Plain {
    Plain {
        area: ALL,
        rgba: [r, g, b, 255],
        dispose: Dispose::Keep,
        is_blended: true,
    }
}

impl Plain {
    fn on(self, area: Area) -> Self {
        Self { area, ..self }
    }

    fn disposed(self, dispose: Dispose) -> Self {
        Self { dispose, ..self }
    }

    fn pixels(&self) -> Vec<u8> {
        self.rgba
            .repeat(self.area.width as usize * self.area.height as usize)
    }
}

fn gif(frames: &[Plain]) -> Vec<u8> {
    sized_gif((16, 8), frames)
}

fn sized_gif((width, height): (u16, u16), frames: &[Plain]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = ::gif::Encoder::new(&mut file, width, height, &[]).unwrap();
    for plain in frames {
        let small = |side: u32| u16::try_from(side).unwrap();
        let (w, h) = (small(plain.area.width), small(plain.area.height));
        let [red, green, blue, opacity] = plain.rgba;
        let transparent = (opacity == 0).then_some(0);
        let pixels = vec![0; usize::from(w) * usize::from(h)];
        let palette = [red, green, blue, 0, 0, 0];
        let mut frame = ::gif::Frame::from_palette_pixels(w, h, pixels, palette, transparent);
        (frame.left, frame.top) = (small(plain.area.left), small(plain.area.top));
        frame.dispose = match plain.dispose {
            Dispose::Keep => ::gif::DisposalMethod::Keep,
            Dispose::Clear => ::gif::DisposalMethod::Background,
            Dispose::Restore => ::gif::DisposalMethod::Previous,
        };
        encoder.write_frame(&frame).unwrap();
    }
    drop(encoder);
    file
}

/// With a default image that is not part of the animation, if there is one.
fn png(default: Option<Plain>, frames: &[Plain]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, WIDTH, HEIGHT);
    encoder.set_color(::png::ColorType::Rgba);
    encoder.set_compression(Compression::Fast);
    let count = u32::try_from(frames.len()).unwrap();
    encoder.set_animated(count, 0).unwrap();
    encoder.set_sep_def_img(default.is_some()).unwrap();
    let mut writer = encoder.write_header().unwrap();
    if let Some(default) = default {
        writer.write_image_data(&default.pixels()).unwrap();
    }
    for frame in frames {
        let area = frame.area;
        // The first frame covers all of the canvas.
        if area.width < WIDTH {
            writer.set_frame_dimension(area.width, area.height).unwrap();
            writer.set_frame_position(area.left, area.top).unwrap();
        } else {
            writer.reset_frame_dimension().unwrap();
            writer.reset_frame_position().unwrap();
        }
        let blend = if frame.is_blended {
            ::png::BlendOp::Over
        } else {
            ::png::BlendOp::Source
        };
        writer.set_blend_op(blend).unwrap();
        let dispose = match frame.dispose {
            Dispose::Keep => ::png::DisposeOp::None,
            Dispose::Clear => ::png::DisposeOp::Background,
            Dispose::Restore => ::png::DisposeOp::Previous,
        };
        writer.set_dispose_op(dispose).unwrap();
        writer.write_image_data(&frame.pixels()).unwrap();
    }
    writer.finish().unwrap();
    file
}

fn webp(frames: &[Plain]) -> Vec<u8> {
    let three = |number: u32| number.to_le_bytes()[..3].to_vec();
    let chunk = |name: &[u8; 4], content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap().to_le_bytes();
        let mut chunk = [&name[..], &length, content].concat();
        chunk.resize(chunk.len().next_multiple_of(2), 0);
        chunk
    };
    let flags = vec![0b1_0010, 0, 0, 0];
    let mut body = b"WEBP".to_vec();
    body.extend(chunk(
        b"VP8X",
        &[flags, three(WIDTH - 1), three(HEIGHT - 1)].concat(),
    ));
    body.extend(chunk(b"ANIM", &[0; 6]));
    for frame in frames {
        let area = frame.area;
        let picture = RgbaImage::from_raw(area.width, area.height, frame.pixels()).unwrap();
        let mut still = Vec::new();
        DynamicImage::from(picture)
            .write_with_encoder(WebPEncoder::new_lossless(&mut still))
            .unwrap();
        let flags =
            u8::from(frame.dispose == Dispose::Clear) | if frame.is_blended { 0 } else { 2 };
        let head = [
            three(area.left / 2),
            three(area.top / 2),
            three(area.width - 1),
            three(area.height - 1),
            three(100),
            vec![flags],
        ];
        body.extend(chunk(b"ANMF", &[&head.concat(), &still[12..]].concat()));
    }
    chunk(b"RIFF", &body)
}

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

/// What is shown, and why that is not all.
fn shown(file: &[u8], most: usize) -> (Vec<Seen>, Option<ImageProblem>) {
    let animation = Animation::of(file, &settings(most), MEMORY).unwrap();
    let reel = animation.film(file, &limits()).unwrap();
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
    // Without its trailer, and with what some writers fill a file with.
    let mut file = gif(&one);
    file.pop();
    assert!(animation(&file).is_none());
    file.extend([0; 20]);
    assert!(animation(&file).is_none());
}

#[test]
fn every_still_fixture_is_one_and_every_animated_fixture_none() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/images");
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
        let reel = animation.film(&file, &limits()).unwrap();
        assert!(reel.frames.len() > 1, "{name}");
        assert_eq!(reel.unseen, None, "{name}");
        // The first frame is what the picture is.
        let still = Picture::decode(&file).unwrap();
        let first = Picture::decode(&reel.frames[0].rendition.bytes).unwrap();
        assert_eq!(first.rgb(), still.rgb(), "{name}");
    }
}

#[test]
fn a_frame_is_what_a_viewer_shows_at_that_time() {
    let frames = [
        plain(RED),
        // Covers the left half, and leaves it as it was.
        plain(GREEN).on(LEFT).disposed(Dispose::Restore),
        // Covers the left half, and leaves it transparent.
        plain(BLUE).on(LEFT).disposed(Dispose::Clear),
        // Shows what is below.
        Plain {
            rgba: [0; 4],
            ..plain(BLACK).on(LEFT)
        },
    ];
    let seen = |file: &[u8]| -> Vec<[[u8; 3]; 2]> {
        let (seen, unseen) = shown(file, 20);
        assert_eq!(unseen, None);
        seen.into_iter().map(|(_, halves)| halves).collect()
    };
    let expected = [both(RED), [GREEN, RED], [BLUE, RED], [WHITE, RED]];
    assert_eq!(seen(&gif(&frames)), expected);
    assert_eq!(seen(&png(None, &frames)), expected);
    // It cannot restore.
    let frames = [frames[0], frames[2], frames[3]];
    assert_eq!(
        seen(&webp(&frames)),
        [expected[0], expected[2], expected[3]]
    );
    // What replaces shows its own transparency.
    let frames = [
        plain(RED),
        Plain {
            rgba: [0; 4],
            is_blended: false,
            ..plain(BLACK).on(LEFT)
        },
    ];
    for file in [png(None, &frames), webp(&frames)] {
        assert_eq!(seen(&file), [both(RED), [WHITE, RED]]);
    }
}

#[test]
fn what_is_drawn_in_opacity_is_not_hidden_by_a_frame_that_was_cleared() {
    // A viewer shows the second frame on white. On what the first one left it would be black on black.
    let shape = Plain {
        rgba: [0, 0, 0, 128],
        ..plain(BLACK).on(LEFT)
    };
    let frames = [plain(BLACK).disposed(Dispose::Clear), shape];
    for file in [png(None, &frames), webp(&frames)] {
        let (seen, _) = shown(&file, 5);
        assert_eq!(seen[1], (1, [[127; 3], WHITE]));
    }
}

#[test]
fn a_default_image_that_is_not_part_of_an_animation_is_shown_before_it() {
    let file = png(Some(plain(RED)), &[plain(GREEN), plain(BLUE)]);
    let (seen, unseen) = shown(&file, 5);
    assert_eq!(seen, [(0, both(RED)), (1, both(GREEN)), (2, both(BLUE))]);
    assert_eq!(unseen, None);
    // It is not below the animation.
    let none = Plain {
        rgba: [0; 4],
        ..plain(BLACK)
    };
    let (seen, _) = shown(&png(Some(plain(RED)), &[none]), 5);
    assert_eq!(seen, [(0, both(RED)), (1, both(WHITE))]);
}

#[test]
fn a_png_that_lies_about_its_frames_is_not_wholly_seen() {
    let frames = [plain(RED), plain(GREEN), plain(BLUE)];
    let file = png(None, &frames);
    let at = file.windows(4).position(|w| w == b"acTL").unwrap();
    for told in [0_u32, 1, 2, 4, u32::MAX] {
        let mut lying = file.clone();
        lying[at + 4..at + 8].copy_from_slice(&told.to_be_bytes());
        let sum = crc(&lying[at..at + 12]);
        lying[at + 12..at + 16].copy_from_slice(&sum.to_be_bytes());
        let animation = animation(&lying).unwrap();
        assert_eq!(
            animation.unseen(),
            Some(ImageProblem::Undecodable),
            "{told}"
        );
        match animation.film(&lying, &limits()) {
            Ok(reel) => assert_eq!(reel.unseen, Some(ImageProblem::Undecodable), "{told}"),
            // Not even the first frame, as of a still picture.
            Err(problem) => {
                assert_eq!(problem, ImageProblem::Undecodable);
                assert!(matches!(told, 0 | u32::MAX), "{told}");
            }
        }
    }
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
        })
    })
}

#[test]
fn no_part_of_an_animation_passes_for_the_whole() {
    let frames: Vec<Plain> = [RED, GREEN, BLUE, BLACK].map(plain).to_vec();
    for file in [gif(&frames), png(None, &frames), webp(&frames)] {
        let whole = shown(&file, 20).0;
        for end in 0..file.len() {
            let part = &file[..end];
            let Some(animation) = animation(part) else {
                // It is decoded as a still picture, or is none. The second frame of a GIF has not begun.
                let second = descriptors(&file).nth(1).unwrap_or(0);
                assert!(
                    Picture::decode(part).is_err() || end <= second,
                    "up to {end}"
                );
                continue;
            };
            let reel = match animation.film(part, &limits()) {
                Ok(reel) => reel,
                Err(problem) => {
                    assert_eq!(problem, ImageProblem::Undecodable);
                    continue;
                }
            };
            let seen: Vec<_> = reel.frames.iter().map(|f| (f.number, halves(f))).collect();
            assert_eq!(seen, whole[..seen.len()], "up to {end}");
            // What follows the last frame may be missing.
            let is_whole = seen.len() == 4 || is_cut_between_frames(part);
            assert_eq!(reel.unseen.is_none(), is_whole, "up to {end}");
        }
    }
}

/// Whether a GIF ends where a block does: then nothing tells that it was longer, and a viewer shows all there is of it.
fn is_cut_between_frames(part: &[u8]) -> bool {
    let with_trailer = [part, &[0x3b]].concat();
    let decoder = ::gif::Decoder::new(with_trailer.as_slice());
    decoder.is_ok_and(|decoder| decoder.into_iter().all(|frame| frame.is_ok()))
}

#[test]
fn damage_is_no_panic_and_no_endless_work() {
    let frames: Vec<Plain> = [RED, GREEN, BLUE].map(plain).to_vec();
    for file in [gif(&frames), png(None, &frames), webp(&frames)] {
        for at in 0..file.len() {
            for value in [0x00, 0xff, file[at] ^ 0x10] {
                let mut damaged = file.clone();
                damaged[at] = value;
                // A canvas of up to 65,535 pixels a side needs more.
                let memory = 20 << 20;
                if let Some(animation) = Animation::of(&damaged, &settings(20), memory)
                    && !animation.is_first_frame_only()
                {
                    let _ = animation.film(&damaged, &limits());
                }
            }
        }
    }
}

#[test]
fn a_frame_that_cannot_be_decoded_leaves_those_before_it() {
    // The third frame is damaged where only its decoder looks.
    let frames: Vec<Plain> = [RED, GREEN, BLUE, BLACK].map(plain).to_vec();
    let mut file = gif(&frames);
    let starts: Vec<usize> = descriptors(&file).collect();
    // After the descriptor, its palette of two colours, and the size of the codes: the length of the data.
    let data = starts[2] + 10 + colors_of(&file, starts[2]) + 1;
    let length = usize::from(file[data]);
    file[data + 1..=data + length].fill(0xff);
    let (seen, unseen) = shown(&file, 2);
    assert_eq!(seen, [(0, both(RED)), (1, both(GREEN))]);
    assert_eq!(unseen, Some(ImageProblem::Undecodable));
}

/// Where the frames of a GIF begin.
fn descriptors(file: &[u8]) -> impl Iterator<Item = usize> {
    (0..file.len()).filter(|at| file[*at..].starts_with(&[0x2c, 0, 0, 0, 0]))
}

fn colors_of(file: &[u8], descriptor: usize) -> usize {
    let flags = file[descriptor + 9];
    3 << ((flags & 7) + 1)
}

/// A GIF of so many frames on a canvas of this size. Each takes a few bytes: its pixels are missing.
fn claiming(frames: usize, (width, height): (u16, u16)) -> Vec<u8> {
    let [w, x] = width.to_le_bytes();
    let [h, i] = height.to_le_bytes();
    let mut file = b"GIF89a".to_vec();
    file.extend([w, x, h, i, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
    for _ in 0..frames {
        file.extend([0x2c, 0, 0, 0, 0, w, x, h, i, 0, 2, 1, 0x2c, 0]);
    }
    file.push(0x3b);
    file
}

#[test]
fn an_animation_that_takes_too_much_decoding_is_not_wholly_seen() {
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
fn frames_beyond_the_bound_are_not_shown_and_the_others_are() {
    let frames: Vec<Plain> = (0..10).map(|n| plain([n * 20, 0, 0])).collect();
    // Frames are counted as 10,000 pixels at least.
    let bounds = AnimationSettings {
        frames: 3,
        pixels: 60_000,
    };
    for file in [gif(&frames), png(None, &frames), webp(&frames)] {
        let animation = Animation::of(&file, &bounds, MEMORY).unwrap();
        let reel = animation.film(&file, &limits()).unwrap();
        let numbers: Vec<_> = reel.frames.iter().map(|frame| frame.number).collect();
        assert_eq!(numbers, [0, 3, 5]);
        assert_eq!(reel.unseen, Some(ImageProblem::TooLarge));
    }
}

#[test]
fn a_frame_outside_the_canvas_is_not_shown_and_nor_is_what_follows() {
    let mut file = sized_gif((16, 8), &[plain(RED), plain(GREEN), plain(BLUE)]);
    let starts: Vec<usize> = descriptors(&file).collect();
    file[starts[1] + 1] = 1;
    let (seen, unseen) = shown(&file, 5);
    assert_eq!(seen, [(0, both(RED))]);
    assert_eq!(unseen, Some(ImageProblem::Undecodable));
}

#[test]
fn all_renditions_together_have_a_bound() {
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
    let reel = animation(&file).unwrap().film(&file, &limits).unwrap();
    assert_eq!(reel.frames.len(), 20);
    let bytes: usize = reel.frames.iter().map(|f| f.rendition.bytes.len()).sum();
    assert!(bytes <= RENDITIONS, "{bytes}");
}
