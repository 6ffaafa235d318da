//! Files that lie about their sizes are refused by their heads.

use super::*;

/// A file of each format that claims this size and contains (almost) nothing.
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
    // 40 million pixels: most formats fit. Those whose decoders need many times as much do not.
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
