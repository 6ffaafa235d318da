//! Pictures: from a file of unknown hands to pixels, and from pixels to what a provider takes.
//!
//! A file is known by its first bytes. What it claims of itself is read before anything is allocated for it, and everything
//! that would take more than the bounds is refused unseen. Decoders are strict: a file that ends too early is no picture,
//! although viewers may show the half of it that is there. A [`Picture`] of an animation is its first frame; [`Animation`]
//! has the others. Everything here computes and blocks; [`Darkroom`](crate::darkroom::Darkroom) runs it where it delays nobody, within the memory of a
//! process.

mod animation;
mod gif;
mod jpeg;
mod png;
mod raster;
mod rendition;
#[cfg(test)]
mod tests;
mod webp;

use std::fmt;

use domain::{decision::ImageProblem, image::ImageFormat};
use image::metadata::Orientation;

pub(crate) use self::animation::{Animation, Film};
use self::raster::Raster;
pub use self::{
    animation::AnimationSettings,
    rendition::{Limits, Rendition},
};

/// Pixels of a picture. The largest that telephones take have 50 million; half of what we could hold would refuse those.
pub const MAX_PIXELS: u64 = 50_000_000;
/// Pixels of a side: what a JPEG can have at most.
pub const MAX_SIDE: u32 = 65_535;
/// Memory for decoding one file, in bytes, its pixels included. Plain formats stay below it up to [`MAX_PIXELS`]; those whose
/// decoders need several times their pixels (progressive JPEG, animated WebP, 16 bits a channel) meet it before.
pub const MAX_MEMORY: usize = 256 << 20;

/// A decoded picture: its pixels as they are stored in the file, that is before any rotation that the file asks for.
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

    /// What the file is.
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

    /// The pixels: three bytes each, red, green and blue, in rows from the top. What is transparent lies on white. Not
    /// rotated: the reference implementation of PDQ ignores what a file says of its orientation, too.
    pub fn rgb(&self) -> &[u8] {
        &self.raster.rgb
    }

    /// The picture as a viewer shows it, in a file that obeys `limits` and holds nothing but pixels. Blocks.
    ///
    /// # Errors
    /// [`ImageProblem::TooLarge`] if no reduction obeys them; [`ImageProblem::Unsupported`] if they allow no format that is
    /// written here (JPEG and PNG).
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

/// What a file claims to be, judged by the bounds; nothing of its content has been read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claim {
    format: ImageFormat,
    header: Header,
}

/// What the head of a file says.
#[derive(Clone, Copy, Debug)]
struct Header {
    width: u32,
    height: u32,
    /// What decoding takes at its peak, in bytes: the decoder's own and the pixels.
    memory: u64,
}

impl Header {
    fn pixels(width: u32, height: u32) -> u64 {
        u64::from(width) * u64::from(height)
    }
}

impl Claim {
    /// Reads the head of a file.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, ImageProblem> {
        let format = ImageFormat::sniff(bytes).ok_or(ImageProblem::Unsupported)?;
        let header = match format {
            ImageFormat::Jpeg => jpeg::header(bytes)?,
            ImageFormat::Png => png::header(bytes)?,
            ImageFormat::Gif => gif::header(bytes)?,
            ImageFormat::Webp => webp::header(bytes)?,
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
        Ok(Self { format, header })
    }

    /// What decoding takes at its peak, in bytes, at most [`MAX_MEMORY`].
    pub(crate) fn memory(&self) -> usize {
        usize::try_from(self.header.memory).unwrap_or(MAX_MEMORY)
    }

    /// Decodes the same file.
    pub(crate) fn decode(self, bytes: &[u8]) -> Result<Picture, ImageProblem> {
        let (raster, orientation) = match self.format {
            ImageFormat::Jpeg => jpeg::decode(bytes)?,
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
