//! The canvas that the frames of an animation are drawn on, one after the other.

use domain::decision::ImageProblem;
use image::{ColorType, metadata::Orientation};

use super::super::{Limits, Rendition, raster::Raster, rendition};

/// Bytes of a pixel of the canvas: red, green, blue and opacity.
const PIXEL: usize = 4;
/// The memory of a canvas at its peak, in bytes for each pixel: the canvas, the part that a frame
/// covered, and what is made of it when it is shown.
pub(super) const MEMORY: u64 = 4 + 4 + 4 + 3;

/// The picture that viewers show at one time.
pub(super) struct Canvas {
    width: u32,
    height: u32,
    /// `width * height * 4` bytes.
    rgba: Vec<u8>,
    /// What happens to the last frame before the next one.
    dispose: Option<(Area, Dispose)>,
    /// The pixels that the last frame covered, if they must be restored.
    covered: Vec<u8>,
}

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: u32,
    pub(super) top: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

/// What happens to a frame when the next one is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dispose {
    /// It stays.
    Keep,
    /// Its area becomes transparent.
    Clear,
    /// Its area is restored.
    Restore,
}

/// A frame as a file stores it.
pub(super) struct Patch<'a> {
    pub(super) area: Area,
    /// Rows of pixels, from the top.
    pub(super) pixels: &'a [u8],
    pub(super) color: Color,
    /// Bytes from one row to the next.
    pub(super) stride: usize,
    /// Whether the canvas below shows through. Otherwise it is replaced, including its
    /// transparency.
    pub(super) is_blended: bool,
    pub(super) dispose: Dispose,
}

/// The bytes of a stored pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Color {
    Grey,
    GreyAlpha,
    Rgb,
    Rgba,
}

impl Color {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Grey => 1,
            Self::GreyAlpha => 2,
            Self::Rgb => 3,
            Self::Rgba => 4,
        }
    }

    fn rgba(self, pixel: &[u8]) -> [u8; PIXEL] {
        match self {
            Self::Grey => [pixel[0], pixel[0], pixel[0], 255],
            Self::GreyAlpha => [pixel[0], pixel[0], pixel[0], pixel[1]],
            Self::Rgb => [pixel[0], pixel[1], pixel[2], 255],
            Self::Rgba => [pixel[0], pixel[1], pixel[2], pixel[3]],
        }
    }
}

impl Canvas {
    /// A transparent canvas.
    pub(super) fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            rgba: vec![0; width as usize * height as usize * PIXEL],
            dispose: None,
            covered: Vec::new(),
        }
    }

    /// Whether an area lies within the canvas. Viewers disagree about one that does not.
    pub(super) fn can_hold(&self, area: Area) -> Result<(), ImageProblem> {
        let fits = |start: u32, length: u32, side: u32| {
            start.checked_add(length).is_some_and(|end| end <= side)
        };
        if fits(area.left, area.width, self.width) && fits(area.top, area.height, self.height) {
            Ok(())
        } else {
            Err(ImageProblem::Undecodable)
        }
    }

    /// Draws the next frame.
    pub(super) fn draw(&mut self, patch: &Patch<'_>) -> Result<(), ImageProblem> {
        let area = patch.area;
        self.can_hold(area)?;
        let row = area.width as usize * patch.color.bytes();
        let bytes = match area.height {
            0 => 0,
            height => (height as usize - 1) * patch.stride + row,
        };
        if patch.pixels.len() < bytes {
            return Err(ImageProblem::Undecodable);
        }
        self.dispose();
        if patch.dispose == Dispose::Restore {
            self.cover(area);
        }
        self.dispose = Some((area, patch.dispose));
        if row == 0 {
            return Ok(());
        }
        for (y, stored) in patch
            .pixels
            .chunks(patch.stride)
            .take(area.height as usize)
            .enumerate()
        {
            let drawn = self.row(area, y);
            let stored = stored[..row].chunks_exact(patch.color.bytes());
            for (below, pixel) in drawn.chunks_exact_mut(PIXEL).zip(stored) {
                let pixel = patch.color.rgba(pixel);
                let [_, _, _, opacity] = pixel;
                if !patch.is_blended || opacity == 255 {
                    below.copy_from_slice(&pixel);
                } else if opacity > 0 {
                    let mixed = over(pixel, [below[0], below[1], below[2], below[3]]);
                    below.copy_from_slice(&mixed);
                }
            }
        }
        Ok(())
    }

    /// Disposes of the last frame as it requires.
    fn dispose(&mut self) {
        let Some((area, dispose)) = self.dispose.take() else {
            return;
        };
        match dispose {
            Dispose::Keep => {}
            Dispose::Clear => {
                for y in 0..area.height as usize {
                    self.row(area, y).fill(0);
                }
            }
            Dispose::Restore => {
                let covered = std::mem::take(&mut self.covered);
                let row = (area.width as usize * PIXEL).max(1);
                for (y, before) in covered.chunks_exact(row).enumerate() {
                    self.row(area, y).copy_from_slice(before);
                }
                self.covered = covered;
            }
        }
    }

    /// Copies the pixels that a frame will cover.
    fn cover(&mut self, area: Area) {
        let mut covered = std::mem::take(&mut self.covered);
        covered.clear();
        for y in 0..area.height as usize {
            covered.extend_from_slice(self.row(area, y));
        }
        self.covered = covered;
    }

    /// The n-th row of an area that lies within the canvas.
    fn row(&mut self, area: Area, y: usize) -> &mut [u8] {
        let start = (area.top as usize + y) * self.width as usize + area.left as usize;
        &mut self.rgba[start * PIXEL..][..area.width as usize * PIXEL]
    }

    /// Its rendition, on white and upright.
    pub(super) fn rendition(
        &self,
        orientation: Orientation,
        limits: &Limits,
    ) -> Result<Rendition, ImageProblem> {
        let raster = Raster::of(self.width, self.height, ColorType::Rgba8, self.rgba.clone())?;
        rendition::of(&raster, orientation, limits)
    }
}

/// A pixel over another one. Neither is multiplied with its opacity.
fn over(above: [u8; PIXEL], below: [u8; PIXEL]) -> [u8; PIXEL] {
    let (a, b) = (u32::from(above[3]), u32::from(below[3]));
    // All products are at most 255 times 255.
    let (above_part, below_part) = (a * 255, b * (255 - a));
    let opacity = above_part + below_part;
    if opacity == 0 {
        return [0; PIXEL];
    }
    let byte = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
    let mix = |n: usize| {
        let sum = u32::from(above[n]) * above_part + u32::from(below[n]) * below_part;
        byte((sum + opacity / 2) / opacity)
    };
    [mix(0), mix(1), mix(2), byte((opacity + 127) / 255)]
}
