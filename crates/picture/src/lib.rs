//! Pictures: from an untrusted file to pixels, and from pixels to a file that a provider takes.
//!
//! The first bytes tell the format. The sizes that a file claims are read before any memory is
//! allocated, and files beyond the bounds are refused without decoding. Decoders are strict: a file
//! that ends too early is not a picture, although viewers may show half of it. Only the marker at the end of a JPEG may be
//! missing. A [`Picture`] of an animation is its first frame; [`Animation`] has the others. Everything here blocks its thread:
//! the callers run it on other threads and within the memory of a process.

mod animation;
mod gif;
mod jpeg;
mod png;
pub mod preview;
mod raster;
mod rendition;
#[cfg(test)]
mod tests;
mod webp;

use std::fmt;

use domain::{decision::ImageProblem, image::ImageFormat};
use image::{ColorType, ImageDecoder, metadata::Orientation};

use self::raster::Raster;
pub use self::{
    animation::{Animation, AnimationSettings, Frame, Frames},
    rendition::{Limits, Rendition},
};

/// The most pixels of a picture. The largest photos of telephones have 50 million.
pub const MAX_PIXELS: u64 = 50_000_000;
/// The most pixels of a side: the maximum of JPEG.
pub const MAX_SIDE: u32 = 65_535;
/// Memory for decoding one file, in bytes, its pixels included. Plain formats with [`MAX_PIXELS`]
/// stay below it. Formats whose decoders need several times their pixels (progressive JPEG,
/// animated WebP, 16 bits a channel) reach it with fewer pixels.
pub const MAX_MEMORY: usize = 256 << 20;

/// A decoded picture. Its pixels are as stored in the file, before any rotation that the file asks
/// for.
pub struct Picture {
    format: ImageFormat,
    raster: Raster,
    orientation: Orientation,
}

impl Picture {
    /// Decodes a file. Blocks, for up to a few seconds.
    ///
    /// # Errors
    /// [`ImageProblem::Unsupported`] for any other format and for rare kinds of these; [`ImageProblem::TooLarge`] beyond the
    /// bounds; [`ImageProblem::Undecodable`] for a file that is damaged or incomplete.
    pub fn decode(bytes: &[u8]) -> Result<Self, ImageProblem> {
        Claim::of(bytes)?.decode(bytes)
    }

    /// The format of the file.
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// Pixels of a row, at least 1.
    pub fn width(&self) -> u32 {
        self.raster.width
    }

    /// Pixels of a column, at least 1.
    pub fn height(&self) -> u32 {
        self.raster.height
    }

    /// The pixels: three bytes each (red, green, blue), in rows from the top, with white behind
    /// transparent ones. They are not rotated, because the reference implementation of PDQ ignores
    /// the orientation, too.
    pub fn rgb(&self) -> &[u8] {
        &self.raster.rgb
    }

    /// The picture as a viewer shows it, in a file within `limits` that has nothing but pixels.
    /// Blocks.
    ///
    /// # Errors
    /// [`ImageProblem::TooLarge`] if no reduction is within the limits.
    /// [`ImageProblem::Unsupported`] if they allow neither JPEG nor PNG, the only formats that are
    /// written.
    pub fn rendition(&self, limits: &Limits) -> Result<Rendition, ImageProblem> {
        rendition::of(&self.raster, self.orientation, limits)
    }
}

/// Its pixels are content, which is never logged.
impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Picture")
            .field("format", &self.format)
            .field("width", &self.width())
            .field("height", &self.height())
            .finish_non_exhaustive()
    }
}

/// What a file claims to be, within the bounds. Its content has not been read.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    format: ImageFormat,
    header: Header,
    /// False: a JPEG without the marker of its end.
    has_end: bool,
}

/// What the head of a file says.
#[derive(Clone, Copy, Debug)]
struct Header {
    width: u32,
    height: u32,
    /// The memory that decoding needs at its peak, in bytes, for the decoder and the pixels.
    memory: u64,
}

impl Header {
    fn pixels(width: u32, height: u32) -> u64 {
        u64::from(width) * u64::from(height)
    }
}

impl Claim {
    /// Reads the head of a file.
    ///
    /// # Errors
    /// Those of [`Picture::decode`] that the head tells.
    pub fn of(bytes: &[u8]) -> Result<Self, ImageProblem> {
        let format = ImageFormat::sniff(bytes).ok_or(ImageProblem::Unsupported)?;
        let (header, has_end) = match format {
            ImageFormat::Jpeg => jpeg::header(bytes)?,
            ImageFormat::Png => (png::header(bytes)?, true),
            ImageFormat::Gif => (gif::header(bytes)?, true),
            ImageFormat::Webp => (webp::header(bytes)?, true),
        };
        let Header {
            width,
            height,
            memory,
        } = header;
        if width == 0 || height == 0 {
            return Err(ImageProblem::Undecodable);
        }
        if width.max(height) > MAX_SIDE
            || Header::pixels(width, height) > MAX_PIXELS
            || memory > MAX_MEMORY as u64
        {
            return Err(ImageProblem::TooLarge);
        }
        Ok(Self {
            format,
            header,
            has_end,
        })
    }

    /// The memory that decoding needs at its peak, in bytes, at most [`MAX_MEMORY`].
    pub fn memory(&self) -> usize {
        usize::try_from(self.header.memory).unwrap_or(MAX_MEMORY)
    }

    /// Decodes the same file. Blocks, for up to a few seconds.
    ///
    /// # Errors
    /// Those of [`Picture::decode`].
    pub fn decode(self, bytes: &[u8]) -> Result<Picture, ImageProblem> {
        let (raster, orientation) = match self.format {
            ImageFormat::Jpeg if self.has_end => jpeg::decode(bytes)?,
            ImageFormat::Jpeg => jpeg::decode_without_end(bytes)?,
            ImageFormat::Png => png::decode(bytes)?,
            ImageFormat::Gif => gif::decode(bytes)?,
            ImageFormat::Webp => webp::decode(bytes)?,
        };
        debug_assert_eq!(
            (raster.width, raster.height),
            (self.header.width, self.header.height)
        );
        Ok(Picture {
            format: self.format,
            raster,
            orientation,
        })
    }
}

/// The picture that one of `image`'s decoders reads.
fn picture(mut decoder: impl ImageDecoder) -> Result<(Raster, Orientation), ImageProblem> {
    let (width, height) = decoder.dimensions();
    let orientation = turned(&mut decoder);
    let (color, pixels) = stored(decoder)?;
    Ok((Raster::of(width, height, color, pixels)?, orientation))
}

/// The pixels as they are stored.
fn stored(decoder: impl ImageDecoder) -> Result<(ColorType, Vec<u8>), ImageProblem> {
    let color = decoder.color_type();
    let mut pixels = vec![0; usize::try_from(decoder.total_bytes()).unwrap_or(usize::MAX)];
    let read = decoder.read_image(&mut pixels);
    read.map_err(|error| problem(&error))?;
    Ok((color, pixels))
}

/// The rotation that the file asks for.
fn turned(decoder: &mut impl ImageDecoder) -> Orientation {
    orientation(decoder.exif_metadata().unwrap_or_default().as_deref())
}

/// The rotation that Exif metadata ask for; none if they are damaged.
fn orientation(exif: Option<&[u8]>) -> Orientation {
    exif.and_then(Orientation::from_exif_chunk)
        .unwrap_or(Orientation::NoTransforms)
}

/// What went wrong in one of `image`'s decoders.
fn problem(error: &image::ImageError) -> ImageProblem {
    match error {
        image::ImageError::Limits(_) => ImageProblem::TooLarge,
        image::ImageError::Unsupported(_) => ImageProblem::Unsupported,
        image::ImageError::Decoding(_)
        | image::ImageError::Encoding(_)
        | image::ImageError::Parameter(_)
        | image::ImageError::IoError(_) => ImageProblem::Undecodable,
    }
}
