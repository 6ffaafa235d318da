//! Ordinary files and malicious ones.

mod claims;
mod fixtures;
mod jpeg_ends;
mod rendition;

use self::fixtures::{BLUE, GREEN, RED, YELLOW, fixture, fixtures};
use super::*;

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
            // As stored: rotated back by a quarter turn.
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
fn no_part_of_a_file_passes_for_the_whole() {
    for (name, bytes) in fixtures() {
        let whole = Picture::decode(&bytes).unwrap();
        for end in 0..bytes.len() {
            if let Ok(part) = Picture::decode(&bytes[..end]) {
                // What follows the last pixel may be missing: of a JPEG, the two bytes of its end marker.
                assert_eq!(part.rgb(), whole.rgb(), "{name} up to {end}");
                assert!(
                    !name.ends_with("jpg") || end + 2 >= bytes.len(),
                    "{name} up to {end}"
                );
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
