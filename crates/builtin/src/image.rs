//! A model that tells whether a picture shows nudity.

mod network;
mod resize;

use std::sync::LazyLock;

use self::{network::Network, resize::resize_middle};
use crate::Damaged;

/// Yahoo's `open_nsfw`, whose file is part of the program (6 MB). It is read at the first call, and
/// stays in memory.
///
/// # Panics
/// Never: a test reads the file.
pub fn open_nsfw() -> &'static Nudity {
    static OPEN_NSFW: LazyLock<Nudity> = LazyLock::new(|| {
        Nudity::read(include_bytes!("../image/open_nsfw.bin")).expect("a test reads this file")
    });
    &OPEN_NSFW
}

/// What Caffe subtracts from blue, green and red: the mean of the pictures of `ImageNet`.
const MEAN: [f32; 3] = [104.0, 117.0, 123.0];

/// A network that tells pictures with nudity from others.
#[derive(Debug)]
pub struct Nudity(Network);

impl Nudity {
    /// Reads a file in the format `GHIM2` (`crates/builtin/README.md`), and tries it on a gray picture.
    pub fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let nudity = Self(Network::read(bytes)?);
        let gray = Pixels::new(1, 1, &[128; 3]).map(|gray| nudity.raw(gray));
        if gray.is_some_and(f32::is_nan) {
            return Err(Damaged::new("its numbers do not make a probability"));
        }
        Ok(nudity)
    }

    /// The same model without the instructions that only newer processors have. It is much slower.
    /// For tests and benchmarks.
    pub fn plain(self) -> Self {
        Self(self.0.plain())
    }

    /// How likely it is that a picture shows nudity, from 0 to 1.
    ///
    /// It shrinks the picture first. Its authors say: under 0.2 a picture is likely safe, over 0.8 it
    /// very probably shows nudity. Drawings are not covered.
    ///
    /// Weights that overflow on this picture say nothing. Then the answer is 1, so that a person
    /// looks at it.
    pub fn probability(&self, pixels: Pixels<'_>) -> f32 {
        let probability = self.raw(pixels);
        if probability.is_nan() {
            1.0
        } else {
            probability
        }
    }

    fn raw(&self, pixels: Pixels<'_>) -> f32 {
        // As its authors do: an eighth more than needed, and then the middle.
        let size = self.0.size();
        let seen = resize_middle(&pixels, size / 7 * 8, size / 14);
        let input = seen.iter().flat_map(|[red, green, blue]| {
            let bgr = [*blue, *green, *red].map(f32::from);
            std::array::from_fn::<f32, 3, _>(|channel| bgr[channel] - MEAN[channel])
        });
        let [safe, nude] = self.0.run(input.collect());
        1.0 / (1.0 + (safe - nude).exp())
    }
}

/// The pixels of a picture: rows from the top, each from the left, three bytes a pixel (red, green,
/// blue; sRGB).
#[derive(Clone, Copy, Debug)]
pub struct Pixels<'a> {
    width: usize,
    height: usize,
    rgb: &'a [u8],
}

impl<'a> Pixels<'a> {
    /// `None` if the picture is empty, or if `rgb` does not have three bytes for each pixel.
    pub fn new(width: u32, height: u32, rgb: &'a [u8]) -> Option<Self> {
        let (width, height) = (usize::try_from(width).ok()?, usize::try_from(height).ok()?);
        let bytes = width.checked_mul(height)?.checked_mul(3)?;
        (bytes > 0 && bytes == rgb.len()).then_some(Self { width, height, rgb })
    }

    /// The rows, each as its pixels.
    fn rows(&self) -> impl Iterator<Item = &'a [[u8; 3]]> {
        let (pixels, _) = self.rgb.as_chunks::<3>();
        pixels.chunks_exact(self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::Pixels;

    #[test]
    fn the_bytes_must_fit_the_size() {
        assert!(Pixels::new(2, 3, &[0; 18]).is_some());
        for (width, height, bytes) in [(2, 3, 17), (2, 3, 19), (0, 3, 0), (3, 0, 0), (1, 1, 4)] {
            assert!(Pixels::new(width, height, &vec![0; bytes]).is_none());
        }
        assert!(Pixels::new(u32::MAX, u32::MAX, &[0; 3]).is_none());
    }
}
