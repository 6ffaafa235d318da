//! Animated WebP (RFC 9649). A frame is stored like a still picture, so it is decoded as a file of
//! its own. `image-webp` can decode animations, but it does not clear areas when a frame asks for
//! it, so its pictures differ from those of viewers.

use domain::decision::ImageProblem;
use image::ColorType;

use super::{
    super::{Header, webp},
    Each, FrameCount, Layout,
    canvas::{self, Area, Canvas, Color, Dispose, Patch},
};

/// Bytes before the first chunk.
const HEAD: usize = 12;
/// Bytes of a frame's chunk before those of its picture.
const FRAME_HEAD: usize = 16;

// Bits of the flags of a file.
const ANIMATED: u8 = 0b10;
const WITH_ALPHA: u8 = 0b1_0000;
// Bits of the flags of a frame.
const CLEARS: u8 = 0b1;
const REPLACES: u8 = 0b10;

pub(super) fn count_frames(bytes: &[u8], frame_count: &mut FrameCount) -> Option<Layout> {
    let (b"VP8X", head, mut rest) = chunk(bytes.get(HEAD..)?)? else {
        return None;
    };
    if head.first()? & ANIMATED == 0 {
        return None;
    }
    let (width, height) = (side(head, 4)?, side(head, 7)?);
    let told = u32::from_le_bytes(bytes.get(4..8)?.try_into().ok()?) as usize;
    // Some writers leave out the last byte, which makes the length even.
    if bytes.len() + 1 < told.saturating_add(8) {
        frame_count.damaged();
    }
    while !rest.is_empty() {
        let Some((name, content, next)) = chunk(rest) else {
            frame_count.damaged();
            break;
        };
        rest = next;
        if name == b"ANMF" {
            let frame = Stored::of(content);
            let Some(Stored { area, .. }) = frame else {
                frame_count.damaged();
                break;
            };
            if frame_count.frame(area.width, area.height).is_none() {
                break;
            }
        }
    }
    Some(Layout {
        width,
        height,
        memory: Header::pixels(width, height) * (canvas::MEMORY + webp::STILL) + bytes.len() as u64,
    })
}

/// A chunk: its name, its content, and what follows it.
fn chunk(bytes: &[u8]) -> Option<(&[u8; 4], &[u8], &[u8])> {
    let (name, rest) = bytes.split_first_chunk::<4>()?;
    let (length, rest) = rest.split_first_chunk::<4>()?;
    let length = u32::from_le_bytes(*length) as usize;
    let content = rest.get(..length)?;
    // Chunks begin at even offsets.
    let next = rest.get(length + length % 2..).unwrap_or_default();
    Some((name, content, next))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let [low, middle, high] = *bytes.get(at..)?.first_chunk::<3>()?;
    Some(u32::from_le_bytes([low, middle, high, 0]))
}

/// A side, which is stored minus one.
fn side(bytes: &[u8], at: usize) -> Option<u32> {
    Some(number(bytes, at)? + 1)
}

/// A frame as it is stored.
struct Stored<'a> {
    area: Area,
    flags: u8,
    picture: &'a [u8],
}

impl<'a> Stored<'a> {
    fn of(content: &'a [u8]) -> Option<Self> {
        let (head, picture) = content.split_at_checked(FRAME_HEAD)?;
        Some(Self {
            area: Area {
                left: number(head, 0)? * 2,
                top: number(head, 3)? * 2,
                width: side(head, 6)?,
                height: side(head, 9)?,
            },
            flags: head[15],
            picture,
        })
    }

    /// The frame alone, as a file.
    fn file(&self) -> Option<Vec<u8>> {
        let mut rest = self.picture;
        let mut chunks: Vec<&[u8]> = Vec::new();
        let mut has_alpha = false;
        while let Some((name, content, next)) = chunk(rest) {
            let is_picture = matches!(name, b"VP8 " | b"VP8L");
            if is_picture || name == b"ALPH" {
                has_alpha |= name != b"VP8 ";
                chunks.push(&rest[..8 + content.len()]);
            }
            if is_picture {
                break;
            }
            rest = next;
        }
        let mut file = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0".to_vec();
        file.extend([if has_alpha { WITH_ALPHA } else { 0 }, 0, 0, 0]);
        for side in [self.area.width, self.area.height] {
            file.extend(&(side - 1).to_le_bytes()[..3]);
        }
        for chunk in chunks {
            file.extend(chunk);
            if chunk.len() % 2 == 1 {
                file.push(0);
            }
        }
        let length = u32::try_from(file.len() - 8).ok()?;
        file[4..8].copy_from_slice(&length.to_le_bytes());
        Some(file)
    }
}

pub(super) fn play(bytes: &[u8], canvas: &mut Canvas, each: Each<'_>) -> Result<(), ImageProblem> {
    const DAMAGED: ImageProblem = ImageProblem::Undecodable;
    let mut rest = bytes.get(HEAD..).ok_or(DAMAGED)?;
    while let Some((name, content, next)) = chunk(rest) {
        rest = next;
        if name != b"ANMF" {
            continue;
        }
        let frame = Stored::of(content).ok_or(DAMAGED)?;
        canvas.can_hold(frame.area)?;
        let file = frame.file().ok_or(DAMAGED)?;
        let (color, pixels) = webp::pixels(&file)?;
        let color = match color {
            ColorType::Rgb8 => Color::Rgb,
            ColorType::Rgba8 => Color::Rgba,
            _ => return Err(ImageProblem::Unsupported),
        };
        canvas.draw(&Patch {
            area: frame.area,
            pixels: &pixels,
            color,
            stride: frame.area.width as usize * color.bytes(),
            is_blended: frame.flags & REPLACES == 0,
            dispose: if frame.flags & CLEARS == 0 {
                Dispose::Keep
            } else {
                Dispose::Clear
            },
        })?;
        drop((file, pixels));
        if each(canvas).is_break() {
            break;
        }
    }
    Ok(())
}
