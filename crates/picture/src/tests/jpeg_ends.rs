//! JPEG files whose ends are missing: the marker only, or part of the picture.

use std::{fs, time::Instant};

use ::image::{ExtendedColorType, ImageEncoder as _, codecs::jpeg::JpegEncoder};
use proptest::prelude::*;

use super::{
    fixtures::{FIXTURES, fixtures},
    *,
};
use crate::preview::{ENOUGH, preview};

/// A progressive file that brings its last bits in no scan: without its end, nobody can tell that none is missing.
const COARSE: &str = "progressive-coarse.jpg";

/// Files with every sampling, order and kind of scan.
fn jpegs() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(format!("{FIXTURES}/../jpeg")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let jpegs = paths.filter(|path| path.extension().is_some_and(|e| e == "jpg"));
    let name = |path: &std::path::Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let mut files: Vec<_> = jpegs
        .map(|path| (name(&path), fs::read(&path).unwrap()))
        .chain(fixtures())
        .filter(|(name, _)| name.ends_with("jpg"))
        .collect();
    files.sort();
    assert!(files.len() >= 20);
    files
}

/// The file without its end marker.
fn body(file: &[u8]) -> &[u8] {
    file.strip_suffix(&[0xff, 0xd9]).unwrap()
}

#[test]
fn only_the_end_marker_of_a_jpeg_may_be_missing() {
    for (name, file) in jpegs() {
        let whole = Picture::decode(&file).unwrap();
        for end in 3..file.len() {
            let part = Picture::decode(&file[..end]);
            if end < file.len() - 2 || name == COARSE {
                assert_eq!(
                    part.unwrap_err(),
                    ImageProblem::Undecodable,
                    "{name} up to {end} of {}",
                    file.len()
                );
            } else {
                assert!(part.unwrap().rgb() == whole.rgb(), "{name} up to {end}");
            }
        }
    }
}

#[test]
fn a_progressive_file_that_is_cut_between_two_scans_is_no_picture() {
    let mut cuts = 0;
    for (name, file) in jpegs() {
        let scans: Vec<usize> = (0..file.len() - 1)
            .filter(|at| file[*at..].starts_with(&[0xff, 0xda]))
            .collect();
        for scan in scans {
            let tables = (0..scan)
                .rev()
                .find(|at| file[*at..].starts_with(&[0xff, 0xc4]));
            for cut in [Some(scan), tables].into_iter().flatten() {
                for end in [&[][..], &[0xff], &[0xff, 0xff]] {
                    let cut = [&file[..cut], end].concat();
                    assert_eq!(problem_of(&cut), ImageProblem::Undecodable, "{name}");
                    cuts += 1;
                }
            }
        }
    }
    assert!(cuts > 300, "{cuts}");
}

#[test]
fn half_a_marker_and_fill_bytes_are_no_part_of_the_picture() {
    for (name, file) in jpegs() {
        let whole = Picture::decode(&file).unwrap();
        for end in [&[0xff][..], &[0xff; 2], &[0xff; 9]] {
            let part = Picture::decode(&[body(&file), end].concat());
            if name == COARSE {
                assert_eq!(part.unwrap_err(), ImageProblem::Undecodable);
            } else {
                assert!(part.unwrap().rgb() == whole.rgb(), "{name} with {end:?}");
            }
        }
    }
}

#[test]
fn what_follows_a_jpeg_is_ignored_after_its_end_and_makes_it_incomplete_without() {
    let other = fixture("plain.png");
    for (name, file) in jpegs() {
        let whole = Picture::decode(&file).unwrap();
        for more in [
            &[0][..],
            &[0; 4_096],
            b"\r\n",
            &other,
            &[0xff, 0x00],
            &[0xff, 0xda],
            &[0xff, 0xc4, 0],
        ] {
            let after = Picture::decode(&[&file, more].concat()).unwrap();
            assert!(after.rgb() == whole.rgb(), "{name}");
            let instead = [body(&file), more].concat();
            assert_eq!(
                problem_of(&instead),
                ImageProblem::Undecodable,
                "{name} with {more:?}"
            );
        }
    }
}

#[test]
fn a_download_that_ended_early_in_a_file_of_the_whole_size_is_no_picture() {
    for (name, file) in jpegs() {
        let scan = file
            .windows(2)
            .position(|pair| pair == [0xff, 0xda])
            .unwrap();
        for end in scan..file.len() - 10 {
            let mut filled = file[..end].to_vec();
            filled.resize(file.len(), 0);
            assert_eq!(
                problem_of(&filled),
                ImageProblem::Undecodable,
                "{name} up to {end} of {}",
                file.len()
            );
        }
    }
}

#[test]
fn previews_are_made_of_the_same_files() {
    for (name, file) in jpegs() {
        let with_end = preview(&file, ENOUGH).unwrap();
        match preview(body(&file), ENOUGH) {
            Ok(without) => assert!(without.bytes == with_end.bytes, "{name}"),
            Err(_) => assert_eq!(name, COARSE),
        }
        assert!(
            preview(&body(&file)[..file.len() - 4], ENOUGH).is_err(),
            "{name}"
        );
    }
}

#[test]
fn damage_to_a_file_without_an_end_is_no_panic() {
    for (_, file) in jpegs() {
        let file = body(&file);
        for at in 0..file.len() {
            for value in [0xff, file[at] ^ 0x10] {
                let mut damaged = file.to_vec();
                damaged[at] = value;
                let _ = Picture::decode(&damaged);
            }
        }
    }
}

/// A file of 61 by 43 pixels that claims to have 50 million, or the largest sides that it can.
fn claiming(file: &[u8]) -> Vec<u8> {
    let frame = file
        .windows(2)
        .position(|pair| matches!(pair, [0xff, 0xc0..=0xc2]))
        .unwrap();
    let mut file = file.to_vec();
    let [height, width] = [3_000_u16, 4_000].map(u16::to_be_bytes);
    file[frame + 5..frame + 7].copy_from_slice(&height);
    file[frame + 7..frame + 9].copy_from_slice(&width);
    file
}

#[test]
fn a_small_file_of_many_scans_takes_little_time() {
    let began = Instant::now();
    for (name, file) in jpegs() {
        let file = claiming(body(&file));
        let scans = file
            .windows(2)
            .position(|pair| pair == [0xff, 0xda])
            .unwrap();
        // The same scan again, for ever, and runs of blocks without anything.
        let scan = [0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0x00, 0xea, 0xea, 0xea];
        for many in [
            file.clone(),
            [&file, &scan.repeat(100_000)[..]].concat(),
            [&file[..scans], &scan.repeat(100_000)[..]].concat(),
        ] {
            if let Ok(claim) = Claim::of(&many) {
                assert_eq!(
                    claim.decode(&many).unwrap_err(),
                    ImageProblem::Undecodable,
                    "{name}"
                );
            }
        }
    }
    // Most of it is for building the files.
    assert!(began.elapsed().as_secs() < 60);
}

#[test]
fn the_copy_of_a_file_without_an_end_counts() {
    for (name, file) in jpegs() {
        let memory = |file: &[u8]| Claim::of(file).unwrap().memory();
        assert_eq!(
            memory(body(&file)),
            memory(&file) + body(&file).len(),
            "{name}"
        );
    }
}

/// Noise, or one colour.
fn encoded(width: u16, height: u16, quality: u8, color: ExtendedColorType, seed: u32) -> Vec<u8> {
    let samples = u32::from(width) * u32::from(height) * u32::from(color.channel_count());
    let noise = |at: u32| {
        at.wrapping_add(seed)
            .wrapping_mul(2_654_435_761)
            .to_be_bytes()[0]
    };
    let pixels: Vec<u8> = (0..samples)
        .map(|at| {
            if seed.is_multiple_of(3) {
                99
            } else {
                noise(at)
            }
        })
        .collect();
    let mut file = Vec::new();
    JpegEncoder::new_with_quality(&mut file, quality)
        .write_image(&pixels, width.into(), height.into(), color)
        .unwrap();
    file
}

#[test]
fn a_large_photo_without_its_end_is_decoded() {
    let file = encoded(1_601, 1_203, 95, ExtendedColorType::Rgb8, 1);
    let whole = Picture::decode(&file).unwrap();
    assert!(Picture::decode(body(&file)).unwrap().rgb() == whole.rgb());
    let cut = &body(&file)[..file.len() - 3];
    assert_eq!(problem_of(cut), ImageProblem::Undecodable);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_file_that_lacks_more_than_its_end_is_no_picture(
        width in 1_u16..70,
        height in 1_u16..70,
        quality in 1_u8..=100,
        grey in any::<bool>(),
        seed in any::<u32>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let color = if grey { ExtendedColorType::L8 } else { ExtendedColorType::Rgb8 };
        let file = encoded(width, height, quality, color, seed);
        let whole = Picture::decode(&file).unwrap();
        let without = Picture::decode(body(&file)).unwrap();
        prop_assert!(without.rgb() == whole.rgb());
        let cut = &file[..cut.index(body(&file).len())];
        prop_assert!(Picture::decode(cut).is_err());
    }
}
