//! Renditions: a picture as a provider gets it, within the provider's limits.

use std::fmt;

use bytes::Bytes;
use domain::{decision::ImageProblem, image::ImageFormat};
use image::{
    DynamicImage, ExtendedColorType, ImageBuffer, ImageEncoder as _, Rgb, RgbImage,
    codecs::{jpeg::JpegEncoder, png::PngEncoder},
    imageops::{self, FilterType},
    metadata::Orientation,
};

use super::raster::Raster;

/// The images that a provider takes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of the file.
    pub bytes: usize,
    /// The fewest pixels of the shorter side.
    pub min_side: u32,
    /// The most pixels of the longer side; at least `min_side`.
    pub max_side: u32,
    /// The formats. JPEG is written if it is one of them, otherwise PNG.
    pub formats: &'static [ImageFormat],
}

/// A picture in a file that we wrote: upright, one frame, no metadata.
#[derive(Clone)]
pub struct Rendition {
    /// The format of the file.
    pub format: ImageFormat,
    /// The file.
    pub bytes: Bytes,
}

/// The file is content, which is never logged.
impl fmt::Debug for Rendition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rendition")
            .field("format", &self.format)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// JPEG qualities, in the order in which they are tried. Below the last one, fewer pixels lose
/// less.
const QUALITIES: [u8; 4] = [90, 80, 65, 50];

pub(super) fn of(
    raster: &Raster,
    orientation: Orientation,
    limits: &Limits,
) -> Result<Rendition, ImageProblem> {
    let format = [ImageFormat::Jpeg, ImageFormat::Png]
        .into_iter()
        .find(|format| limits.formats.contains(format))
        .ok_or(ImageProblem::Unsupported)?;
    let mut max_side = limits.max_side;
    loop {
        let fit = Fit::of(raster, limits.min_side, max_side);
        let scaled = upright(fit.scale(raster), orientation);
        let fitted = pad(scaled, limits.min_side);
        if let Some(bytes) = encode(&fitted, format, limits.bytes)? {
            return Ok(Rendition {
                format,
                bytes: bytes.into(),
            });
        }
        // Reduced from its actual size, not from the allowed size. Three quarters of the sides are
        // about half of the pixels.
        let smaller = fitted.width().max(fitted.height()) / 4 * 3;
        if smaller < limits.min_side.max(1) {
            return Err(ImageProblem::TooLarge);
        }
        max_side = smaller;
    }
}

/// The sides of a rendition. The aspect ratio is kept if the shorter side has at least one pixel.
struct Fit {
    width: u32,
    height: u32,
}

impl Fit {
    fn of(raster: &Raster, min_side: u32, max_side: u32) -> Self {
        let (width, height) = (f64::from(raster.width), f64::from(raster.height));
        let largest = f64::from(max_side) / width.max(height);
        let wanted = f64::from(min_side) / width.min(height);
        // Enlarged if it is too small, but never beyond the maximum. If it is still too small, it
        // is padded.
        let scale = wanted.max(1.0).min(largest);
        let side = |side: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "clamped to a side's range, and saturating anyway"
            )]
            let scaled = (side * scale).round().clamp(1.0, f64::from(max_side)) as u32;
            scaled
        };
        Self {
            width: side(width),
            height: side(height),
        }
    }

    fn scale(&self, raster: &Raster) -> RgbImage {
        let source = ImageBuffer::<Rgb<u8>, &[u8]>::from_raw(
            raster.width,
            raster.height,
            raster.rgb.as_slice(),
        )
        .expect("a raster has three bytes for each pixel");
        if (self.width, self.height) == (raster.width, raster.height) {
            RgbImage::from_raw(raster.width, raster.height, raster.rgb.clone())
                .expect("a raster has three bytes for each pixel")
        } else if self.width > raster.width || self.height > raster.height {
            imageops::resize(&source, self.width, self.height, FilterType::Triangle)
        } else {
            // Averages pixels without additional memory. The other filters need a lot of it.
            imageops::thumbnail(&source, self.width, self.height)
        }
    }
}

fn upright(image: RgbImage, orientation: Orientation) -> RgbImage {
    let mut image = DynamicImage::from(image);
    image.apply_orientation(orientation);
    image.into_rgb8()
}

/// Pads a picture that is too narrow with white on both sides.
fn pad(image: RgbImage, min_side: u32) -> RgbImage {
    let (width, height) = (image.width().max(min_side), image.height().max(min_side));
    if (width, height) == image.dimensions() {
        return image;
    }
    let mut padded = RgbImage::from_pixel(width, height, Rgb([255; 3]));
    let left = (width - image.width()) / 2;
    let top = (height - image.height()) / 2;
    imageops::replace(&mut padded, &image, left.into(), top.into());
    padded
}

/// A file of at most `limit` bytes. None if that is not possible.
fn encode(
    image: &RgbImage,
    format: ImageFormat,
    limit: usize,
) -> Result<Option<Vec<u8>>, ImageProblem> {
    let mut file = Vec::new();
    let (width, height) = image.dimensions();
    let qualities: &[u8] = match format {
        ImageFormat::Jpeg => &QUALITIES,
        ImageFormat::Png | ImageFormat::Gif | ImageFormat::Webp => &[0],
    };
    for quality in qualities {
        file.clear();
        let written =
            match format {
                ImageFormat::Jpeg => JpegEncoder::new_with_quality(&mut file, *quality)
                    .write_image(image, width, height, ExtendedColorType::Rgb8),
                ImageFormat::Png | ImageFormat::Gif | ImageFormat::Webp => PngEncoder::new(
                    &mut file,
                )
                .write_image(image, width, height, ExtendedColorType::Rgb8),
            };
        // Encoding fails only for sides beyond the format's maximum.
        written.map_err(|_| ImageProblem::TooLarge)?;
        if file.len() <= limit {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
