//! What is shown to providers obeys their limits.

use image::{ColorType, ImageEncoder as _, codecs::png::PngEncoder};
use proptest::prelude::*;

use super::*;

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
            // Noise with the smallest permitted sides may be larger than that as PNG.
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
