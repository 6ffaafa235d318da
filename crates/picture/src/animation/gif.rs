//! Animated GIF (`GIF89a`). This module walks its blocks. The frames are decoded like still
//! pictures.

use domain::decision::ImageProblem;
use gif::{ColorOutput, DecodeOptions, DisposalMethod};

use super::{
    super::Header,
    Each, FrameCount, Layout,
    canvas::{self, Area, Canvas, Color, Dispose, Patch},
};

/// The memory for decoding a frame, in bytes for each pixel: its index in the palette, and red,
/// green, blue and opacity.
const FRAME: u64 = 1 + 4;

// Blocks, GIF89a, appendix A.
const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2c;
const TRAILER: u8 = 0x3b;

pub(super) fn count_frames(bytes: &[u8], frame_count: &mut FrameCount) -> Option<Layout> {
    let head = bytes.get(..13)?;
    let (width, height) = (side(head, 6)?, side(head, 8)?);
    if walk(bytes, 13 + colors(head[10]), frame_count).is_none() {
        frame_count.damaged();
    }
    if frame_count.frames == 0 {
        // Nothing shows that there should be more than one.
        return None;
    }
    Some(Layout {
        width,
        height,
        memory: Header::pixels(width, height) * (canvas::MEMORY + FRAME),
    })
}

/// Counts the frames. None if the file ends within a block, or if something follows that is not a
/// block.
fn walk(bytes: &[u8], mut at: usize, frame_count: &mut FrameCount) -> Option<()> {
    loop {
        match bytes.get(at) {
            // Viewers do without the trailer.
            None | Some(&TRAILER) => return Some(()),
            Some(&EXTENSION) => at = skip_data(bytes, at + 2)?,
            Some(&IMAGE) => {
                let head = bytes.get(at..at + 10)?;
                // The palette, then the size of the first codes.
                at = skip_data(bytes, at + 10 + colors(head[9]) + 1)?;
                frame_count.frame(side(head, 5)?, side(head, 7)?)?;
            }
            // Some writers fill the rest of a file.
            Some(0) if bytes[at..].iter().all(|byte| *byte == 0) => return Some(()),
            Some(_) => return None,
        }
    }
}

/// Where the next block begins, after parts of up to 255 bytes. Each part follows its length. The
/// last one is empty.
fn skip_data(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match usize::from(*bytes.get(at)?) {
            0 => return Some(at + 1),
            length => at += 1 + length,
        }
    }
}

/// Bytes of a palette.
fn colors(flags: u8) -> usize {
    if flags & 0x80 == 0 {
        0
    } else {
        3 << ((flags & 7) + 1)
    }
}

fn side(bytes: &[u8], at: usize) -> Option<u32> {
    let side = [*bytes.get(at)?, *bytes.get(at + 1)?];
    Some(u16::from_le_bytes(side).into())
}

pub(super) fn play(bytes: &[u8], canvas: &mut Canvas, each: Each<'_>) -> Result<(), ImageProblem> {
    const DAMAGED: ImageProblem = ImageProblem::Undecodable;
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    options.check_frame_consistency(true);
    // Viewers skip extensions that they do not know.
    options.allow_unknown_blocks(true);
    let mut decoder = options.read_info(bytes).map_err(|_| DAMAGED)?;
    while let Some(frame) = decoder.next_frame_info().map_err(|_| DAMAGED)? {
        let area = Area {
            left: frame.left.into(),
            top: frame.top.into(),
            width: frame.width.into(),
            height: frame.height.into(),
        };
        let dispose = match frame.dispose {
            DisposalMethod::Any | DisposalMethod::Keep => Dispose::Keep,
            DisposalMethod::Background => Dispose::Clear,
            DisposalMethod::Previous => Dispose::Restore,
        };
        let mut pixels = vec![0; decoder.buffer_size()];
        if !pixels.is_empty() {
            decoder.read_into_buffer(&mut pixels).map_err(|_| DAMAGED)?;
        }
        canvas.draw(&Patch {
            area,
            pixels: &pixels,
            color: Color::Rgba,
            stride: decoder.line_length(),
            is_blended: true,
            dispose,
        })?;
        drop(pixels);
        if each(canvas).is_break() {
            break;
        }
    }
    Ok(())
}
