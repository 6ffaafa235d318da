//! Animated PNG (PNG, third edition). This module walks its chunks, because a file may lie about
//! the number of its frames.
//!
//! Viewers without animations show the default image, which may or may not be part of the
//! animation. Here it is always the first frame.

use std::io::Cursor;

use domain::decision::ImageProblem;
use png::{BlendOp, ColorType, Decoder, DecodingError, DisposeOp, Transformations};

use super::{
    super::{Header, png::METADATA},
    Each, FrameCount, Layout,
    canvas::{self, Area, Canvas, Color, Dispose, Patch},
};

/// The memory for decoding a frame, in bytes for each pixel of the canvas.
const FRAME: u64 = 4;
/// Bytes before the first chunk.
const SIGNATURE: usize = 8;

pub(super) fn count_frames(bytes: &[u8], frame_count: &mut FrameCount) -> Option<Layout> {
    let mut found = Found::default();
    if walk(bytes, frame_count, &mut found).is_none() {
        frame_count.damaged();
    }
    let (width, height) = found.size?;
    let told = u64::from(found.told?) + u64::from(!found.has_first);
    if frame_count.frames == 0 && told <= 1 {
        return None;
    }
    if frame_count.unseen.is_none() && frame_count.frames as u64 != told {
        frame_count.damaged();
    }
    Some(Layout {
        width,
        height,
        memory: Header::pixels(width, height) * (canvas::MEMORY + FRAME) + METADATA,
    })
}

/// What the chunks contain.
#[derive(Default)]
struct Found {
    /// The size of the canvas.
    size: Option<(u32, u32)>,
    /// The number of frames that the animation declares. None if the file is not an animation.
    told: Option<u32>,
    /// Whether the default image is part of the animation.
    has_first: bool,
    /// Whether the default image was seen.
    has_default: bool,
    /// The size of a frame before its pixels.
    announced: Option<(u32, u32)>,
}

/// Counts the frames. None if the file ends within a chunk.
fn walk(bytes: &[u8], frame_count: &mut FrameCount, found: &mut Found) -> Option<()> {
    let mut at = SIGNATURE;
    while at < bytes.len() {
        let length = word(bytes, at)? as usize;
        let name = bytes.get(at + 4..at + 8)?;
        let content = bytes.get(at + 8..)?.get(..length)?;
        at += 8 + length + 4;
        match name {
            b"IHDR" => found.size = Some((word(content, 0)?, word(content, 4)?)),
            b"acTL" if !found.has_default => {
                found.told.get_or_insert(word(content, 0)?);
            }
            b"fcTL" => found.announced = Some((word(content, 4)?, word(content, 8)?)),
            b"IDAT" if !found.has_default => {
                // It is not an animation, so nothing else matters.
                found.told?;
                found.has_default = true;
                found.has_first = found.announced.take().is_some();
                let (width, height) = found.size?;
                frame_count.frame(width, height)?;
            }
            b"fdAT" => {
                if let Some((width, height)) = found.announced.take() {
                    frame_count.frame(width, height)?;
                }
            }
            b"IEND" => return Some(()),
            _ => {}
        }
    }
    // Whether the last chunk was complete, including its checksum.
    (at == bytes.len()).then_some(())
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(word))
}

pub(super) fn play(bytes: &[u8], canvas: &mut Canvas, each: Each<'_>) -> Result<(), ImageProblem> {
    let metadata = usize::try_from(METADATA).unwrap_or(usize::MAX);
    let limits = png::Limits { bytes: metadata };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| problem(&error))?;
    let whole = reader.output_buffer_size().ok_or(ImageProblem::TooLarge)?;
    let told = reader.info().animation_control.map(|told| told.num_frames);
    let extra = u32::from(reader.info().frame_control.is_none());
    let mut pixels = vec![0; whole];
    for _ in 0..told.unwrap_or(0).saturating_add(extra) {
        let stored = reader
            .next_frame(&mut pixels)
            .map_err(|error| problem(&error))?;
        let info = reader.info();
        let color = match stored.color_type {
            ColorType::Grayscale => Color::Grey,
            ColorType::GrayscaleAlpha => Color::GreyAlpha,
            ColorType::Rgb => Color::Rgb,
            ColorType::Rgba => Color::Rgba,
            ColorType::Indexed => return Err(ImageProblem::Unsupported),
        };
        let control = info.frame_control;
        let (left, top) = control.map_or((0, 0), |control| (control.x_offset, control.y_offset));
        canvas.draw(&Patch {
            area: Area {
                left,
                top,
                width: stored.width,
                height: stored.height,
            },
            pixels: &pixels,
            color,
            // The decoder stores the rows of interlaced frames with the stride of the canvas.
            stride: if info.interlaced {
                info.width as usize * color.bytes()
            } else {
                stored.line_size
            },
            is_blended: control.is_some_and(|control| control.blend_op == BlendOp::Over),
            // The default image is gone when the animation begins.
            dispose: match control.map(|control| control.dispose_op) {
                Some(DisposeOp::None) => Dispose::Keep,
                Some(DisposeOp::Background) | None => Dispose::Clear,
                Some(DisposeOp::Previous) => Dispose::Restore,
            },
        })?;
        if each(canvas).is_break() {
            break;
        }
    }
    Ok(())
}

fn problem(error: &DecodingError) -> ImageProblem {
    match error {
        DecodingError::LimitsExceeded => ImageProblem::TooLarge,
        DecodingError::IoError(_) | DecodingError::Format(_) | DecodingError::Parameter(_) => {
            ImageProblem::Undecodable
        }
    }
}
