//! Whether a picture shows nudity.

use super::{network::Network, pixels::Pixels, resize::resize_middle};
use crate::Damaged;

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
