//! A frame is what a viewer shows at that time.

use super::{
    files::{
        BLACK, BLUE, GREEN, LEFT, Plain, RED, WHITE, descriptors, gif, plain, png, sized_gif, webp,
    },
    *,
};
use crate::animation::canvas::Dispose;

#[test]
fn case_69_a_frame_is_what_a_viewer_shows_at_that_time() {
    let frames = [
        plain(RED),
        // Covers the left half, and restores it.
        plain(GREEN).on(LEFT).disposed(Dispose::Restore),
        // Covers the left half, and then makes it transparent.
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
    // WebP cannot restore.
    let frames = [frames[0], frames[2], frames[3]];
    assert_eq!(
        seen(&webp(&frames)),
        [expected[0], expected[2], expected[3]]
    );
    // A frame that replaces the canvas also replaces its transparency.
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
fn case_69_a_frame_that_was_cleared_does_not_hide_what_is_drawn_over_it() {
    // A viewer shows the second frame on white. On the pixels of the first frame it would be black
    // on black.
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
fn case_69_a_default_image_that_is_not_part_of_an_animation_is_shown_before_it() {
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
fn case_69_a_frame_outside_the_canvas_is_not_shown_and_nor_is_what_follows() {
    let mut file = sized_gif((16, 8), &[plain(RED), plain(GREEN), plain(BLUE)]);
    let starts: Vec<usize> = descriptors(&file).collect();
    file[starts[1] + 1] = 1;
    let (seen, unseen) = shown(&file, 5);
    assert_eq!(seen, [(0, both(RED))]);
    assert_eq!(unseen, Some(ImageProblem::Undecodable));
}
