//! Files as others make them, and as attackers do. The fixtures all show the same four quarters.

use std::fs;

use image::{ColorType, ImageEncoder as _, codecs::png::PngEncoder};
use proptest::prelude::*;

use super::*;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/images");
const RED: [u8; 3] = [255, 0, 0];
const GREEN: [u8; 3] = [0, 160, 0];
const BLUE: [u8; 3] = [0, 0, 255];
const YELLOW: [u8; 3] = [240, 240, 0];

fn fixture(name: &str) -> Vec<u8> {
    fs::read(format!("{FIXTURES}/{name}")).unwrap()
}

fn fixtures() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(FIXTURES).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pictures: Vec<_> = names
        .filter(|name| {
            ["jpg", "png", "gif", "webp"]
                .iter()
                .any(|e| name.ends_with(e))
        })
        .map(|name| (name.clone(), fixture(&name)))
        .collect();
    assert!(pictures.len() >= 20);
    pictures
}

fn problem_of(bytes: &[u8]) -> ImageProblem {
    Picture::decode(bytes).unwrap_err()
}

/// The colours in the middle of the quarters, in the order of reading.
fn quarters(width: u32, height: u32, rgb: &[u8]) -> [[u8; 3]; 4] {
    let at = |x: u32, y: u32| {
        let pixel = (y * height / 4 * width + x * width / 4) as usize;
        rgb[pixel * 3..][..3].try_into().unwrap()
    };
    [at(1, 1), at(3, 1), at(1, 3), at(3, 3)]
}

fn alike(some: [[u8; 3]; 4], others: [[u8; 3]; 4]) -> bool {
    let channels = some.as_flattened().iter().zip(others.as_flattened());
    channels.into_iter().all(|(a, b)| a.abs_diff(*b) <= 24)
}

fn grey(quarters: [[u8; 3]; 4]) -> [[u8; 3]; 4] {
    quarters.map(|[r, g, b]| {
        let luma = (u32::from(r) * 299 + u32::from(g) * 587 + u32::from(b) * 114) / 1000;
        [u8::try_from(luma).unwrap(); 3]
    })
}

#[test]
fn every_kind_of_file_shows_its_first_frame() {
    let colours = [RED, GREEN, BLUE, YELLOW];
    for (name, bytes) in fixtures() {
        let picture = Picture::decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let seen = quarters(picture.width(), picture.height(), picture.rgb());
        let expected = match name.as_str() {
            "grey.jpg" | "grey-alpha.png" | "sixteen.png" => grey(colours),
            // Dithered.
            "one-bit.png" => continue,
            // As it is stored: a quarter turn back.
            name if name.starts_with("rotated") => [GREEN, YELLOW, RED, BLUE],
            _ => colours,
        };
        assert!(alike(seen, expected), "{name}: {seen:?}");
        let (w, h) = (picture.width(), picture.height());
        assert_eq!(
            (w * h, picture.rgb().len()),
            (64 * 48, 64 * 48 * 3),
            "{name}"
        );
    }
}

#[test]
fn a_rendition_stands_upright() {
    for name in ["rotated.jpg", "rotated.png", "rotated.webp"] {
        let picture = Picture::decode(&fixture(name)).unwrap();
        assert_eq!((picture.width(), picture.height()), (48, 64), "{name}");
        let shown = picture.rendition(&generous(&[ImageFormat::Png])).unwrap();
        let shown = Picture::decode(&shown.bytes).unwrap();
        assert_eq!((shown.width(), shown.height()), (64, 48), "{name}");
        let seen = quarters(64, 48, shown.rgb());
        assert!(alike(seen, [RED, GREEN, BLUE, YELLOW]), "{name}: {seen:?}");
    }
}

#[test]
fn no_part_of_a_file_passes_for_the_whole() {
    for (name, bytes) in fixtures() {
        let whole = Picture::decode(&bytes).unwrap();
        for end in 0..bytes.len() {
            if let Ok(part) = Picture::decode(&bytes[..end]) {
                // What follows the last pixel may be missing.
                assert_eq!(part.rgb(), whole.rgb(), "{name} up to {end}");
                assert!(!name.ends_with("jpg"), "{name} up to {end}");
            }
        }
    }
}

#[test]
fn damage_is_no_panic() {
    // A byte at a time, everywhere, in every kind of file.
    for (_, bytes) in fixtures() {
        for at in 0..bytes.len() {
            for value in [0x00, 0xff, bytes[at] ^ 0x10] {
                let mut damaged = bytes.clone();
                damaged[at] = value;
                let _ = Picture::decode(&damaged);
            }
        }
    }
}

#[test]
fn what_is_no_picture_is_unsupported_whatever_it_says() {
    for bytes in [
        &b""[..],
        b"<html><body>not found</body></html>",
        b"%PDF-1.7",
        b"BM\x46\0\0\0\0\0\0\0",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"\0\0\0\x1cftypavif",
        b"II*\0",
        b"PK\x03\x04",
    ] {
        assert_eq!(problem_of(bytes), ImageProblem::Unsupported);
    }
    for magic in ["\u{89}PNG", "GIF89a", "GIF87a;"] {
        assert!(Picture::decode(magic.as_bytes()).is_err(), "{magic}");
    }
    for magic in [
        &b"\xff\xd8\xff"[..],
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a",
        b"RIFF\0\0\0\0WEBP",
    ] {
        assert_eq!(problem_of(magic), ImageProblem::Undecodable, "{magic:?}");
    }
}

#[test]
fn two_files_in_one_are_what_the_decoder_sees() {
    for name in ["baseline.jpg", "plain.png", "plain.gif", "lossy.webp"] {
        let bytes = fixture(name);
        let mut both = bytes.clone();
        both.extend(b"PK\x03\x04 and <script>alert(1)</script>");
        let (one, both) = (Picture::decode(&bytes), Picture::decode(&both));
        assert_eq!(one.unwrap().rgb(), both.unwrap().rgb(), "{name}");
    }
    let script = b"GIF89a/*\0\0\0\0\0*/=alert(1)//";
    assert_eq!(problem_of(script), ImageProblem::Undecodable);
}

/// A file of each format that claims to be of this size and holds (nearly) nothing.
fn claiming(width: u32, height: u32) -> Vec<(&'static str, Vec<u8>)> {
    let mut png = fixture("alpha.png");
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    let low = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
    let mut gif = fixture("plain.gif");
    gif[6..8].copy_from_slice(&low(width).to_le_bytes());
    gif[8..10].copy_from_slice(&low(height).to_le_bytes());
    let mut files = vec![("png", png), ("gif", gif)];
    for name in ["baseline.jpg", "progressive.jpg", "cmyk.jpg"] {
        let mut jpeg = fixture(name);
        let frame = jpeg
            .windows(2)
            .position(|w| matches!(w, [0xff, 0xc0 | 0xc2]))
            .unwrap();
        jpeg[frame + 5..frame + 7].copy_from_slice(&low(height).to_be_bytes());
        jpeg[frame + 7..frame + 9].copy_from_slice(&low(width).to_be_bytes());
        files.push((name, jpeg));
    }
    for name in ["animated.webp", "lossy-alpha.webp"] {
        let mut webp = fixture(name);
        let canvas = webp.windows(4).position(|w| w == b"VP8X").unwrap() + 12;
        webp[canvas..canvas + 3].copy_from_slice(&width.wrapping_sub(1).to_le_bytes()[..3]);
        webp[canvas + 3..canvas + 6].copy_from_slice(&height.wrapping_sub(1).to_le_bytes()[..3]);
        files.push((name, webp));
    }
    files
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 * (crc & 1))
        })
    })
}

#[test]
fn a_small_file_with_huge_sides_is_refused_by_its_head() {
    for (name, bytes) in claiming(50_000, 50_000) {
        assert_eq!(
            Claim::of(&bytes).unwrap_err(),
            ImageProblem::TooLarge,
            "{name}"
        );
    }
    let (name, png) = claiming(50_000_000, 1).remove(0);
    assert_eq!(problem_of(&png), ImageProblem::TooLarge, "{name}");
}

#[test]
fn what_only_decoding_would_take_is_counted() {
    // 40 million pixels: most fit, those whose decoders need many times that do not.
    let refused: Vec<_> = claiming(8_000, 5_000)
        .iter()
        .filter(|(_, bytes)| matches!(Claim::of(bytes), Err(ImageProblem::TooLarge)))
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(refused, ["animated.webp", "lossy-alpha.webp"]);
}

#[test]
fn a_lossy_frame_that_is_larger_than_its_file_says_is_never_decoded() {
    let mut webp = fixture("lossy-alpha.webp");
    let frame = webp
        .windows(3)
        .position(|w| w == [0x9d, 0x01, 0x2a])
        .unwrap()
        + 3;
    webp[frame..frame + 4].copy_from_slice(&[0xff, 0x3f, 0xff, 0x3f]);
    assert_eq!(Claim::of(&webp).unwrap_err(), ImageProblem::Undecodable);
}

#[test]
fn a_gif_whose_frame_leaves_its_screen_is_no_picture() {
    let mut gif = fixture("plain.gif");
    gif[6..10].copy_from_slice(&[1, 0, 1, 0]);
    assert_eq!(problem_of(&gif), ImageProblem::Undecodable);
}

#[test]
fn a_gif_frame_stands_where_it_belongs_on_white() {
    let mut file = Vec::new();
    let mut encoder = ::gif::Encoder::new(&mut file, 4, 3, &[255, 0, 0, 0, 0, 255]).unwrap();
    let mut frame = ::gif::Frame::from_indexed_pixels(2, 1, [0, 1], None);
    (frame.left, frame.top) = (1, 2);
    encoder.write_frame(&frame).unwrap();
    drop(encoder);
    let picture = Picture::decode(&file).unwrap();
    let white = [255; 3];
    let mut expected = [white; 12];
    (expected[9], expected[10]) = (RED, BLUE);
    assert_eq!(picture.rgb(), expected.as_flattened());
}

#[test]
fn a_side_of_zero_is_no_picture() {
    for (at, name) in [(6, "plain.gif"), (8, "plain.gif")] {
        let mut gif = fixture(name);
        gif[at..at + 2].fill(0);
        assert_eq!(problem_of(&gif), ImageProblem::Undecodable, "{name}");
    }
    let (_, png) = claiming(1, 0).remove(0);
    assert_eq!(problem_of(&png), ImageProblem::Undecodable);
    let mut jpeg = fixture("baseline.jpg");
    let frame = jpeg.windows(2).position(|w| w == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].fill(0);
    assert_eq!(problem_of(&jpeg), ImageProblem::Undecodable);
}

fn plain(width: u32, height: u32) -> Picture {
    let pixels = (0..width * height).flat_map(|i| {
        let noise = i.wrapping_mul(2_654_435_761).to_le_bytes();
        [noise[1], noise[2], noise[3]]
    });
    let raster = Raster::of(width, height, ColorType::Rgb8, pixels.collect()).unwrap();
    Picture {
        format: ImageFormat::Png,
        raster,
        orientation: Orientation::NoTransforms,
    }
}

fn generous(formats: &'static [ImageFormat]) -> Limits {
    Limits {
        bytes: 10 << 20,
        min_side: 1,
        max_side: 10_000,
        formats,
    }
}

#[test]
fn a_provider_that_takes_neither_jpeg_nor_png_gets_nothing() {
    let limits = generous(&[ImageFormat::Webp]);
    let error = plain(8, 8).rendition(&limits).unwrap_err();
    assert_eq!(error, ImageProblem::Unsupported);
}

#[test]
fn a_limit_below_any_file_is_told_instead_of_tried_for_ever() {
    for formats in [&[ImageFormat::Jpeg][..], &[ImageFormat::Png]] {
        let limits = Limits {
            bytes: 10,
            ..generous(formats)
        };
        let error = plain(300, 200).rendition(&limits).unwrap_err();
        assert_eq!(error, ImageProblem::TooLarge);
    }
}

#[test]
fn what_obeys_the_limits_keeps_its_pixels() {
    let picture = plain(300, 200);
    let shown = picture.rendition(&generous(&[ImageFormat::Png])).unwrap();
    assert_eq!(Picture::decode(&shown.bytes).unwrap().rgb(), picture.rgb());
}

#[test]
fn a_thin_line_is_padded_where_scaling_cannot_help() {
    let limits = Limits {
        min_side: 50,
        max_side: 2_048,
        ..generous(&[ImageFormat::Png])
    };
    for (width, height) in [(1, 20_000), (20_000, 1)] {
        let shown = plain(width, height).rendition(&limits).unwrap();
        let shown = Picture::decode(&shown.bytes).unwrap();
        let sides = (shown.width(), shown.height());
        assert_eq!((sides.0.min(sides.1), sides.0.max(sides.1)), (50, 2_048));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_rendition_obeys_its_limits(
        width in 1_u32..400,
        height in 1_u32..400,
        min_side in 1_u32..120,
        room in 0_u32..300,
        bytes in 20_000_usize..60_000,
        jpeg in any::<bool>(),
        turned in any::<bool>(),
    ) {
        let max_side = min_side + room;
        let formats: &[ImageFormat] = if jpeg { &[ImageFormat::Jpeg, ImageFormat::Png] } else { &[ImageFormat::Png] };
        let mut picture = plain(width, height);
        if turned {
            picture.orientation = Orientation::Rotate90;
        }
        let limits = Limits { bytes, min_side, max_side, formats };
        match picture.rendition(&limits) {
            Ok(shown) => {
                prop_assert!(shown.bytes.len() <= bytes);
                prop_assert_eq!(shown.format, formats[0]);
                prop_assert_eq!(ImageFormat::sniff(&shown.bytes), Some(shown.format));
                let shown = Picture::decode(&shown.bytes).unwrap();
                let (w, h) = (shown.width(), shown.height());
                prop_assert!(w.min(h) >= min_side && w.max(h) <= max_side, "{} x {}", w, h);
            }
            // Noise of the smallest permitted sides in PNG may be more than that.
            Err(problem) => {
                prop_assert_eq!(problem, ImageProblem::TooLarge);
                prop_assert!((min_side * min_side * 3) as usize > bytes / 2, "{:?}", limits);
            }
        }
    }

    #[test]
    fn what_we_write_in_png_we_read_back(width in 1_u32..60, height in 1_u32..60) {
        let picture = plain(width, height);
        let mut file = Vec::new();
        PngEncoder::new(&mut file).write_image(picture.rgb(), width, height, ColorType::Rgb8.into()).unwrap();
        let read = Picture::decode(&file).unwrap();
        prop_assert_eq!((read.width(), read.height()), (width, height));
        prop_assert_eq!(read.rgb(), picture.rgb());
    }
}
