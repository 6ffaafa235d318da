//! Files that lie, that were cut off, or that are damaged.

use super::{
    files::{BLACK, BLUE, GREEN, Plain, RED, descriptors, gif, plain, png, webp},
    *,
};

#[test]
fn case_69_a_png_with_a_wrong_count_of_frames_is_not_wholly_seen() {
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
        match animation.frames(&lying, &limits()) {
            Ok(reel) => assert_eq!(reel.unseen, Some(ImageProblem::Undecodable), "{told}"),
            // Not even the first frame is shown, as with a still picture.
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
fn case_69_no_part_of_an_animation_passes_for_the_whole() {
    let frames: Vec<Plain> = [RED, GREEN, BLUE, BLACK].map(plain).to_vec();
    for file in [gif(&frames), png(None, &frames), webp(&frames)] {
        let whole = shown(&file, 20).0;
        for end in 0..file.len() {
            let part = &file[..end];
            let Some(animation) = animation(part) else {
                // It is decoded as a still picture, or cannot be decoded. If it is a GIF, its
                // second frame has not begun.
                let second = descriptors(&file).nth(1).unwrap_or(0);
                assert!(
                    Picture::decode(part).is_err() || end <= second,
                    "up to {end}"
                );
                continue;
            };
            let reel = match animation.frames(part, &limits()) {
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

/// Whether a GIF ends at the end of a block. Then nothing shows that it was longer, and a viewer
/// shows all of it.
fn is_cut_between_frames(part: &[u8]) -> bool {
    let with_trailer = [part, &[0x3b]].concat();
    let decoder = ::gif::Decoder::new(with_trailer.as_slice());
    decoder.is_ok_and(|decoder| decoder.into_iter().all(|frame| frame.is_ok()))
}

#[test]
fn case_69_damage_causes_no_panic_and_no_endless_work() {
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
                    let _ = animation.frames(&damaged, &limits());
                }
            }
        }
    }
}

#[test]
fn case_69_a_frame_that_cannot_be_decoded_leaves_those_before_it() {
    // The third frame is damaged where only its decoder notices it.
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

fn colors_of(file: &[u8], descriptor: usize) -> usize {
    let flags = file[descriptor + 9];
    3 << ((flags & 7) + 1)
}
