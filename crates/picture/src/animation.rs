//! Animations: which frames of a file are shown, and how they are decoded.
//!
//! A file of a few kilobytes may hold a hundred thousand frames on a huge canvas. So its structure
//! is walked first, without decoding: this gives the number of frames and the cost of decoding
//! them. Then the frames are decoded one by one onto one canvas, and the chosen ones become
//! renditions. A frame here is what a viewer shows at that time, not what the file stores.

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

/// The bounds of animations.
#[derive(Clone, Copy, Debug)]
pub struct AnimationSettings {
    /// The most frames of one animation that are shown, at least 1.
    pub frames: usize,
    /// The most pixels of one animation that are decoded, in all its frames together.
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

/// What a file with several frames declares, within the bounds. No frame was decoded.
#[derive(Clone, Copy, Debug)]
pub struct Animation {
    format: ImageFormat,
    width: u32,
    height: u32,
    /// Frames that are decoded, at least 1.
    frames: usize,
    /// The most frames that are shown.
    most: usize,
    /// The memory that decoding needs at its peak, in bytes.
    memory: u64,
    /// Why other frames are not decoded. None if there are no others.
    unseen: Option<ImageProblem>,
}

impl Animation {
    /// Walks over a file's structure. None if it is a still picture or cannot be decoded. An
    /// animation that needs more than `memory` is reduced to its first frame.
    pub fn of(bytes: &[u8], settings: &AnimationSettings, memory: u64) -> Option<Self> {
        let format = ImageFormat::sniff(bytes)?;
        let mut frame_count = FrameCount::new(settings.pixels);
        let found = match format {
            ImageFormat::Jpeg => None,
            ImageFormat::Png => png::count_frames(bytes, &mut frame_count),
            ImageFormat::Gif => gif::count_frames(bytes, &mut frame_count),
            ImageFormat::Webp => webp::count_frames(bytes, &mut frame_count),
        };
        let Layout {
            width,
            height,
            memory: needed,
        } = found?;
        if frame_count.frames <= 1 && frame_count.unseen.is_none() {
            return None;
        }
        let mut animation = Self {
            format,
            width,
            height,
            // The decoder of still pictures may be able to show the first frame.
            frames: frame_count.frames.max(1),
            most: settings.frames,
            memory: needed,
            unseen: frame_count.unseen,
        };
        if needed > memory || width.max(height) > MAX_SIDE {
            animation.frames = 1;
            animation.unseen = Some(ImageProblem::TooLarge);
        }
        Some(animation)
    }

    /// Whether only its first frame is shown.
    pub fn is_first_frame_only(&self) -> bool {
        self.frames == 1 || self.most == 1
    }

    /// Why part of it cannot be shown. None if all of it can.
    pub fn unseen(&self) -> Option<ImageProblem> {
        self.unseen
    }

    /// The memory that decoding needs at its peak, in bytes.
    pub fn memory(&self) -> usize {
        usize::try_from(self.memory).unwrap_or(usize::MAX)
    }
}

/// Called with the canvas after each frame. It returns whether to continue.
type Each<'a> = &'a mut dyn FnMut(&Canvas) -> ControlFlow<()>;

/// The cost of decoding the smallest frame, in pixels. Each frame has tables and a palette of its
/// own.
const LEAST_FRAME: u64 = 10_000;

/// The canvas that a file declares.
struct Layout {
    width: u32,
    height: u32,
    /// The memory for decoding it frame by frame at its peak, in bytes.
    memory: u64,
}

/// Counts the frames that may be decoded.
struct FrameCount {
    frames: usize,
    /// Pixels that may still be decoded.
    left: u64,
    unseen: Option<ImageProblem>,
}

impl FrameCount {
    fn new(pixels: u64) -> Self {
        Self {
            frames: 0,
            left: pixels,
            unseen: None,
        }
    }

    /// Counts a frame of this size. None if it may not be decoded. For the first frame, the bounds
    /// of still pictures apply.
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

    /// The rest of the file is damaged or missing.
    fn damaged(&mut self) {
        self.unseen.get_or_insert(ImageProblem::Undecodable);
    }
}

/// The most bytes of all renditions of one animation together.
const RENDITIONS: usize = 10 << 20;

/// The frames of a picture that are shown: one of a still picture, several of an animation.
#[derive(Debug)]
pub struct Frames {
    /// In their order, at least one.
    pub frames: Vec<Frame>,
    /// Why part of it could not be shown. None if all of it could.
    pub unseen: Option<ImageProblem>,
}

/// A frame as a viewer shows it.
#[derive(Debug)]
pub struct Frame {
    /// Its number in the file, from 0.
    pub number: usize,
    /// What a viewer shows at that time.
    pub rendition: Rendition,
}

impl Frames {
    /// One frame.
    pub fn still(rendition: Rendition, unseen: Option<ImageProblem>) -> Self {
        let number = 0;
        Self {
            frames: vec![Frame { number, rendition }],
            unseen,
        }
    }
}

impl Animation {
    /// Decodes the same file, and makes renditions of the first frame, the last one and some
    /// between. Blocks, for up to a few seconds. If a frame cannot be decoded, the frames before it
    /// are shown.
    ///
    /// # Errors
    /// Those of [`Picture::decode`](super::Picture::decode) if not even the first frame can be decoded, and of
    /// [`Picture::rendition`](super::Picture::rendition).
    pub fn frames(self, bytes: &[u8], limits: &Limits) -> Result<Frames, ImageProblem> {
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
            // The last frame that a viewer could show.
            if !chosen.contains(&last) {
                show(&canvas, last);
            }
        }
        Ok(Frames {
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
