//! GIF. Its first frame counts. It must lie within the screen that the file declares. Otherwise
//! browsers would enlarge the screen and decoders would cut the frame off, so that we would see
//! another picture than people do.

use domain::decision::ImageProblem;
use gif::{ColorOutput, DecodeOptions, Decoder};
use image::{ColorType, metadata::Orientation};

use super::{Header, Raster};

/// Bytes of a decoded pixel: with opacity.
const PIXEL: usize = 4;

pub(super) fn header(bytes: &[u8]) -> Result<Header, ImageProblem> {
    let mut decoder = open(bytes)?;
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    let screen = Header::pixels(width, height) * PIXEL as u64;
    decoder.next_frame_info().map_err(|_| DAMAGED)?;
    let frame = decoder.buffer_size() as u64;
    Ok(Header {
        width,
        height,
        // A frame that is smaller than the screen needs memory of its own.
        memory: screen + if frame < screen { frame } else { 0 },
    })
}

pub(super) fn decode(bytes: &[u8]) -> Result<(Raster, Orientation), ImageProblem> {
    let mut decoder = open(bytes)?;
    let width = usize::from(decoder.width());
    let frame = decoder.next_frame_info().map_err(|_| DAMAGED)?;
    let frame = frame.ok_or(DAMAGED)?;
    let (left, top) = (usize::from(frame.left), usize::from(frame.top));
    let row = usize::from(frame.width) * PIXEL;
    let screen_bytes = width * usize::from(decoder.height()) * PIXEL;
    let mut pixels = vec![0; decoder.buffer_size()];
    decoder.read_into_buffer(&mut pixels).map_err(|_| DAMAGED)?;
    if pixels.len() < screen_bytes {
        let mut screen = vec![0; screen_bytes];
        for (y, line) in pixels.chunks_exact(row.max(1)).enumerate() {
            let at = ((top + y) * width + left) * PIXEL;
            screen[at..][..row].copy_from_slice(line);
        }
        pixels = screen;
    }
    let (width, height) = (u32::from(decoder.width()), u32::from(decoder.height()));
    let raster = Raster::of(width, height, ColorType::Rgba8, pixels)?;
    Ok((raster, Orientation::NoTransforms))
}

const DAMAGED: ImageProblem = ImageProblem::Undecodable;

fn open(bytes: &[u8]) -> Result<Decoder<&[u8]>, ImageProblem> {
    let mut options = DecodeOptions::new();
    options.set_color_output(ColorOutput::RGBA);
    options.check_frame_consistency(true);
    options.read_info(bytes).map_err(|_| DAMAGED)
}
