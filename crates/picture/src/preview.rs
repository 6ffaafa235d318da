//! Previews: what a person sees of a stranger's image. A small JPEG that we wrote, upright and without metadata.
//!
//! It is made in a process of its own, which has nothing but the file. This is its work.

use domain::{decision::ImageProblem, image::ImageFormat};

use crate::{Claim, Limits, MAX_MEMORY, Rendition};

/// The most pixels of a side.
pub const MAX_SIDE: u32 = 640;
/// The most bytes of a preview.
pub const MAX_BYTES: usize = 512 << 10;
/// Memory that is enough for every picture, in bytes.
pub const ENOUGH: usize = MAX_MEMORY;

const LIMITS: Limits = Limits {
    bytes: MAX_BYTES,
    min_side: 1,
    max_side: MAX_SIDE,
    formats: &[ImageFormat::Jpeg],
};

/// Why there is no preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPreview {
    /// The file is no picture, or one that is not decoded.
    Problem(ImageProblem),
    /// The picture needs more memory to be decoded than was given. Nothing was decoded.
    NeedsMemory,
}

/// The preview of a file, of its first frame. Decoding takes at most `memory` bytes. Blocks.
///
/// # Errors
/// See [`NoPreview`].
pub fn preview(file: &[u8], memory: usize) -> Result<Rendition, NoPreview> {
    let claim = Claim::of(file).map_err(NoPreview::Problem)?;
    if claim.memory() > memory {
        return Err(NoPreview::NeedsMemory);
    }
    let picture = claim.decode(file).map_err(NoPreview::Problem)?;
    picture.rendition(&LIMITS).map_err(NoPreview::Problem)
}
