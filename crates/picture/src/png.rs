//! PNG. Its decoder verifies checksums, and returns an error when the file ends before its pixels
//! do. Anything after the last pixel is not read. An animated PNG is read like any other, because
//! it begins with a still image.

use std::io::Cursor;

use domain::decision::ImageProblem;
use image::{ImageDecoder as _, Limits, codecs::png::PngDecoder, metadata::Orientation};

use super::{Header, Raster, picture, problem, turned};

/// Memory for compressed metadata before the pixels. Colour profiles have a megabyte or two.
pub(super) const METADATA: u64 = 16 << 20;

pub(super) fn header(bytes: &[u8]) -> Result<Header, ImageProblem> {
    let decoder = open(bytes)?;
    let (width, height) = decoder.dimensions();
    let pixel = Raster::memory_per_pixel(decoder.color_type());
    Ok(Header {
        width,
        height,
        memory: Header::pixels(width, height) * pixel + METADATA,
    })
}

pub(super) fn decode(bytes: &[u8]) -> Result<(Raster, Orientation), ImageProblem> {
    picture(open(bytes)?)
}

/// The rotation that the file asks for.
pub(super) fn orientation_of(bytes: &[u8]) -> Orientation {
    open(bytes).map_or(Orientation::NoTransforms, |mut decoder| {
        turned(&mut decoder)
    })
}

fn open(bytes: &[u8]) -> Result<PngDecoder<Cursor<&[u8]>>, ImageProblem> {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(METADATA);
    PngDecoder::with_limits(Cursor::new(bytes), limits).map_err(|error| problem(&error))
}
