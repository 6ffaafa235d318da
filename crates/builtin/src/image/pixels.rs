//! A decoded picture.

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

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn height(&self) -> usize {
        self.height
    }

    /// The rows, each as its pixels.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'a [[u8; 3]]> {
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
