//! Files that are not what they seem.

use image::{ExtendedColorType, ImageEncoder as _, codecs::png::PngEncoder};

use super::{TOO_LARGE, UNDECODABLE, UNSUPPORTED};
use crate::support::picture;

/// A file, and what must happen to it.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) file: Vec<u8>,
    /// The media type that a server announces.
    pub(super) declared: &'static str,
    /// The code of the refusal when it is sent inline. `None` if it is accepted.
    pub(super) refused: Option<&'static str>,
    /// The problem in the reason when it was accepted or fetched. `None` if it was examined.
    pub(super) problem: Option<&'static str>,
}

fn case(name: &str, file: Vec<u8>, problem: Option<&'static str>) -> Case {
    Case {
        name: name.to_owned(),
        file,
        declared: "image/png",
        refused: (problem == Some(UNSUPPORTED)).then_some("unsupported_image"),
        problem,
    }
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("bomb.png", png_of(50_000, 50_000), Some(TOO_LARGE)),
        case("line.png", png_of(50_000_000, 1), Some(TOO_LARGE)),
        case("bomb.gif", gif_of(50_000), Some(TOO_LARGE)),
        case("bomb.webp", webp_of(50_000), Some(TOO_LARGE)),
        case("bomb.jpg", jpeg_of(50_000), Some(TOO_LARGE)),
        case("inflated.png", inflated(), None),
        case("empty.png", Vec::new(), Some(UNSUPPORTED)),
        case(
            "page.png",
            b"<!doctype html><script>alert(1)</script>".to_vec(),
            Some(UNSUPPORTED),
        ),
        case(
            "archive.png",
            b"PK\x03\x04archive".to_vec(),
            Some(UNSUPPORTED),
        ),
        case(
            "picture.bmp",
            b"BM\x46\0\0\0\0\0\0\0".to_vec(),
            Some(UNSUPPORTED),
        ),
        case(
            "picture.avif",
            b"\0\0\0\x1cftypavif".to_vec(),
            Some(UNSUPPORTED),
        ),
        case(
            "script.gif",
            b"GIF89a/*aaaaaaa*/=alert(1)//".to_vec(),
            Some(UNDECODABLE),
        ),
        case("magic.jpg", b"\xff\xd8\xff".to_vec(), Some(UNDECODABLE)),
    ];
    for name in ["baseline.jpg", "plain.png", "plain.gif", "lossy.webp"] {
        let whole = picture(name);
        let half = whole[..whole.len() / 2].to_vec();
        cases.push(case(&format!("half-{name}"), half, Some(UNDECODABLE)));
        let mut both = whole;
        both.extend(b"PK\x03\x04 and <script>alert(1)</script>");
        cases.push(case(&format!("polyglot-{name}"), both, None));
    }
    // Only the marker of the end is missing, or more than that.
    for name in ["baseline.jpg", "progressive.jpg", "grey.jpg"] {
        let whole = picture(name);
        for (missing, problem) in [(1, None), (2, None), (3, Some(UNDECODABLE))] {
            let part = whole[..whole.len() - missing].to_vec();
            cases.push(case(&format!("without-{missing}-{name}"), part, problem));
        }
    }
    for name in [
        "animated.gif",
        "animated.png",
        "animated-lossy.webp",
        "cmyk.jpg",
    ] {
        cases.push(case(name, picture(name), None));
    }
    // A whole file with wrong sizes.
    let mut huge = picture("plain.png");
    huge.resize((10 << 20) + 1, 0);
    cases.push(Case {
        refused: Some("image_too_large"),
        ..case("huge.png", huge, Some(TOO_LARGE))
    });
    let mut largest = picture("plain.png");
    largest.resize(10 << 20, 0);
    cases.push(case("largest.png", largest, None));
    let mut tiny = Vec::new();
    PngEncoder::new(&mut tiny)
        .write_image(&[0; 3], 1, 1, ExtendedColorType::Rgb8)
        .unwrap();
    cases.push(Case {
        declared: "text/html",
        ..case("tiny.png", tiny, None)
    });
    cases
}

/// A few kilobytes that decode to 48 MB of pixels. This is below the limit.
pub(super) fn greedy() -> Vec<u8> {
    black(4_000, 4_000)
}

fn black(width: u32, height: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let pixels = vec![0; width as usize * height as usize * 3];
    PngEncoder::new(&mut file)
        .write_image(&pixels, width, height, ExtendedColorType::Rgb8)
        .unwrap();
    file
}

/// A PNG that declares other sides than it has.
fn resized(mut png: Vec<u8>, width: u32, height: u32) -> Vec<u8> {
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = !png[12..29].iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 * (sum & 1))
        })
    });
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    png
}

pub(super) fn png_of(width: u32, height: u32) -> Vec<u8> {
    resized(picture("plain.png"), width, height)
}

/// Ten by ten pixels, with compressed data that decode to 48 MB.
fn inflated() -> Vec<u8> {
    resized(greedy(), 10, 10)
}

fn gif_of(side: u16) -> Vec<u8> {
    let mut gif = picture("plain.gif");
    gif[6..8].copy_from_slice(&side.to_le_bytes());
    gif[8..10].copy_from_slice(&side.to_le_bytes());
    gif
}

fn webp_of(side: u32) -> Vec<u8> {
    let mut webp = picture("animated.webp");
    let canvas = webp.windows(4).position(|w| w == b"VP8X").unwrap() + 12;
    webp[canvas..canvas + 3].copy_from_slice(&(side - 1).to_le_bytes()[..3]);
    webp[canvas + 3..canvas + 6].copy_from_slice(&(side - 1).to_le_bytes()[..3]);
    webp
}

fn jpeg_of(side: u16) -> Vec<u8> {
    let mut jpeg = picture("progressive.jpg");
    let frame = jpeg.windows(2).position(|w| w == [0xff, 0xc2]).unwrap();
    jpeg[frame + 5..frame + 7].copy_from_slice(&side.to_be_bytes());
    jpeg[frame + 7..frame + 9].copy_from_slice(&side.to_be_bytes());
    jpeg
}
