//! WebP. Its decoder returns an error when the file ends before its pixels do. But it uses the size
//! of a lossy frame before it compares it with the size of the file. So this module compares them
//! first.

use std::io::Cursor;

use domain::decision::ImageProblem;
use image::{ColorType, ImageDecoder as _, codecs::webp::WebPDecoder, metadata::Orientation};

use super::{Header, Raster, picture, problem, stored, turned};

/// The memory for decoding at its peak, in bytes for each pixel. A lossy frame with compressed
/// opacity takes 1.5 for its planes, 4 for the pixels, and 4 and 1 for the opacity.
pub(super) const STILL: u64 = 11;
/// For an animation, a frame, the canvas and the result are in memory at the same time.
const ANIMATED: u64 = 20;

pub(super) fn header(bytes: &[u8]) -> Result<Header, ImageProblem> {
    let decoder = open(bytes)?;
    let (width, height) = decoder.dimensions();
    let lying = lossy_frames(bytes).any(|(w, h)| w > width || h > height);
    if lying {
        return Err(ImageProblem::Undecodable);
    }
    let pixel = if decoder.has_animation() {
        ANIMATED
    } else {
        STILL
    };
    Ok(Header {
        width,
        height,
        memory: Header::pixels(width, height) * pixel,
    })
}

pub(super) fn decode(bytes: &[u8]) -> Result<(Raster, Orientation), ImageProblem> {
    picture(open(bytes)?)
}

/// The pixels of a still picture, as they are stored.
pub(super) fn pixels(bytes: &[u8]) -> Result<(ColorType, Vec<u8>), ImageProblem> {
    header(bytes)?;
    stored(open(bytes)?)
}

/// The rotation that the file asks for.
pub(super) fn orientation_of(bytes: &[u8]) -> Orientation {
    open(bytes).map_or(Orientation::NoTransforms, |mut decoder| {
        turned(&mut decoder)
    })
}

fn open(bytes: &[u8]) -> Result<WebPDecoder<Cursor<&[u8]>>, ImageProblem> {
    WebPDecoder::new(Cursor::new(bytes)).map_err(|error| problem(&error))
}

/// The sizes of all byte sequences, anywhere in the file, that a decoder could take for a lossy
/// frame: a chunk's name, its length, three bytes, the start code, width and height (RFC 9649, RFC
/// 6386 9.1). Such a sequence practically never occurs by chance.
fn lossy_frames(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    bytes.windows(18).filter_map(|window| match *window {
        [
            b'V',
            b'P',
            b'8',
            b' ',
            _,
            _,
            _,
            _,
            _,
            _,
            _,
            0x9d,
            0x01,
            0x2a,
            w,
            x,
            h,
            i,
        ] => {
            let side = |low, high| u32::from(u16::from_le_bytes([low, high]) & 0x3fff);
            Some((side(w, x), side(h, i)))
        }
        _ => None,
    })
}
