//! Animations: which frames of a file are shown, and how they are had.
//!
//! A file of a few kilobytes may hold a hundred thousand frames on a huge canvas. So its structure is walked first, which decodes
//! nothing: that tells how many frames there are and what decoding them takes. Then the frames are decoded one by one onto
//! one canvas, and those that were chosen become renditions. A frame is what a viewer shows at that time, not what the file
//! stores of it.

mod canvas;
mod gif;
mod png;
#[cfg(test)]
mod tests;
mod webp;

use std::ops::ControlFlow;

use domain::{decision::ImageProblem, image::ImageFormat};
use image::metadata::Orientation;

use self::canvas::Canvas;
use super::{Header, Limits, MAX_SIDE, Rendition};

/// What decoding the smallest frame takes, in pixels: each one has tables and a palette of its own.
const LEAST_FRAME: u64 = 10_000;
/// Memory for the renditions of one animation, in bytes, all together.
const RENDITIONS: usize = 10 << 20;

/// The bounds of animations.
#[derive(Clone, Copy, Debug)]
pub struct AnimationSettings {
    /// Frames that are shown of one animation at most, at least 1.
    pub frames: usize,
    /// Pixels that are decoded of one animation at most, over all its frames.
    pub pixels: u64,
}

impl Default for AnimationSettings {
    fn default() -> Self {
        Self {
            frames: 5,
            pixels: 500_000_000,
        }
    }
}

/// What a file with several frames says of itself, judged by the bounds. No frame was decoded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Animation {
    format: ImageFormat,
    width: u32,
    height: u32,
    /// Frames that are decoded, at least 1.
    frames: usize,
    /// Frames that are shown at most.
    most: usize,
    /// What decoding takes at its peak, in bytes.
    memory: u64,
    /// Why the other frames are not decoded; none if there are no others.
    unseen: Option<ImageProblem>,
}

/// What is shown of a picture: one rendition of a still, several of an animation.
#[derive(Debug)]
pub(crate) struct Film {
    /// In their order, at least one.
    pub(crate) frames: Vec<Frame>,
    /// Why not all of it could be looked at; none if all could.
    pub(crate) unseen: Option<ImageProblem>,
}

/// A frame as a viewer shows it.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Its place among the frames of its file, from 0.
    pub(crate) number: usize,
    pub(crate) rendition: Rendition,
}

impl Film {
    /// One frame.
    pub(crate) fn still(rendition: Rendition, unseen: Option<ImageProblem>) -> Self {
        let number = 0;
        Self {
            frames: vec![Frame { number, rendition }],
            unseen,
        }
    }
}

impl Animation {
    /// Walks over a file's structure. None if it is a still picture, or nothing that could be decoded. An animation that takes more
    /// than `memory` to decode is reduced to its first frame.
    pub(crate) fn of(bytes: &[u8], settings: &AnimationSettings, memory: u64) -> Option<Self> {
        let format = ImageFormat::sniff(bytes)?;
        let mut survey = Survey::new(settings.pixels);
        let found = match format {
            ImageFormat::Jpeg => None,
            ImageFormat::Png => png::survey(bytes, &mut survey),
            ImageFormat::Gif => gif::survey(bytes, &mut survey),
            ImageFormat::Webp => webp::survey(bytes, &mut survey),
        };
        let Layout {
            width,
            height,
            memory: needed,
        } = found?;
        if survey.frames <= 1 && survey.unseen.is_none() {
            return None;
        }
        let mut animation = Self {
            format,
            width,
            height,
            // Of the first one, the decoder of still pictures may want less than is missing.
            frames: survey.frames.max(1),
            most: settings.frames,
            memory: needed,
            unseen: survey.unseen,
        };
        if needed > memory || width.max(height) > MAX_SIDE {
            animation.frames = 1;
            animation.unseen = Some(ImageProblem::TooLarge);
        }
        Some(animation)
    }

    /// Whether it is its first frame that is shown, and no other.
    pub(crate) fn is_first_frame_only(&self) -> bool {
        self.frames == 1 || self.most == 1
    }

    /// Why not all of it can be looked at; none if all can.
    pub(crate) fn unseen(&self) -> Option<ImageProblem> {
        self.unseen
    }

    /// What decoding takes at its peak, in bytes.
    pub(crate) fn memory(&self) -> usize {
        usize::try_from(self.memory).unwrap_or(usize::MAX)
    }

    /// Decodes the same file, and makes renditions of the first frame, the last one and some between. Blocks, for up to some
    /// seconds. If a frame cannot be decoded, those before it are shown.
    ///
    /// # Errors
    /// Those of [`Picture::decode`](super::Picture::decode) if not even the first frame can be decoded, and of
    /// [`Picture::rendition`](super::Picture::rendition).
    pub(crate) fn film(self, bytes: &[u8], limits: &Limits) -> Result<Film, ImageProblem> {
        let chosen = chosen(self.frames, self.most);
        let limits = Limits {
            bytes: limits.bytes.min(RENDITIONS / chosen.len()),
            ..*limits
        };
        let orientation = self.orientation(bytes);
        let mut canvas = Canvas::new(self.width, self.height);
        let mut frames = Vec::with_capacity(chosen.len());
        let mut decoded = 0;
        let mut show = |canvas: &Canvas, number| {
            let rendition = canvas.rendition(orientation, &limits);
            let is_there = rendition.is_ok();
            frames.push(rendition.map(|rendition| Frame { number, rendition }));
            is_there
        };
        let mut each = |canvas: &Canvas| {
            let number = decoded;
            decoded += 1;
            let is_shown = !chosen.contains(&number) || show(canvas, number);
            if is_shown && decoded < self.frames {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        };
        let played = match self.format {
            ImageFormat::Gif => gif::play(bytes, &mut canvas, &mut each),
            ImageFormat::Png => png::play(bytes, &mut canvas, &mut each),
            ImageFormat::Webp => webp::play(bytes, &mut canvas, &mut each),
            ImageFormat::Jpeg => Err(ImageProblem::Unsupported),
        };
        let mut unseen = self.unseen;
        if decoded < self.frames {
            let problem = played.err().unwrap_or(ImageProblem::Undecodable);
            let last = decoded.checked_sub(1).ok_or(problem)?;
            unseen = Some(problem);
            // The last one that a viewer could show.
            if !chosen.contains(&last) {
                show(&canvas, last);
            }
        }
        Ok(Film {
            frames: frames.into_iter().collect::<Result<_, _>>()?,
            unseen,
        })
    }

    /// The rotation that the file asks for.
    fn orientation(&self, bytes: &[u8]) -> Orientation {
        match self.format {
            ImageFormat::Png => super::png::orientation_of(bytes),
            ImageFormat::Webp => super::webp::orientation_of(bytes),
            ImageFormat::Gif | ImageFormat::Jpeg => Orientation::NoTransforms,
        }
    }
}

/// The numbers of the frames that are shown: the first, the last, and evenly spaced ones between, `most` in all.
fn chosen(frames: usize, most: usize) -> Vec<usize> {
    match most.min(frames) {
        0 | 1 => vec![0],
        count => {
            let (last, gaps) = (frames - 1, count - 1);
            // To the nearest.
            (0..count).map(|i| (i * last + gaps / 2) / gaps).collect()
        }
    }
}

/// What a file says of its canvas.
struct Layout {
    width: u32,
    height: u32,
    /// What decoding it frame by frame takes at its peak, in bytes.
    memory: u64,
}

/// Counts frames, as many as may be decoded.
struct Survey {
    frames: usize,
    /// Pixels that may still be decoded.
    left: u64,
    unseen: Option<ImageProblem>,
}

impl Survey {
    fn new(pixels: u64) -> Self {
        Self {
            frames: 0,
            left: pixels,
            unseen: None,
        }
    }

    /// There is one more frame of this size. None if it may not be decoded; of the first one, the bounds of still pictures decide.
    fn frame(&mut self, width: u32, height: u32) -> Option<()> {
        let takes = Header::pixels(width, height).max(LEAST_FRAME);
        match self.left.checked_sub(takes) {
            Some(left) => self.left = left,
            None if self.frames == 0 => self.left = 0,
            None => {
                self.unseen = Some(ImageProblem::TooLarge);
                return None;
            }
        }
        self.frames += 1;
        Some(())
    }

    /// What follows is damaged, or missing.
    fn damaged(&mut self) {
        self.unseen.get_or_insert(ImageProblem::Undecodable);
    }
}

/// What is called with the canvas after each frame. It tells whether to go on.
type Each<'a> = &'a mut dyn FnMut(&Canvas) -> ControlFlow<()>;
