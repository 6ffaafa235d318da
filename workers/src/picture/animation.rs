//! Animations: which frames of a file are shown, and how they are decoded.
//!
//! A file of a few kilobytes may hold a hundred thousand frames on a huge canvas. So its structure
//! is walked first, without decoding: this gives the number of frames and the cost of decoding
//! them. Then the frames are decoded one by one onto one canvas, and the chosen ones become
//! renditions. A frame here is what a viewer shows at that time, not what the file stores.

mod canvas;
mod frame_count;
mod frames;
mod gif;
mod png;
#[cfg(test)]
mod tests;
mod webp;

use std::ops::ControlFlow;

use domain::{decision::ImageProblem, image::ImageFormat};

pub(crate) use self::frames::Frames;
use self::{
    canvas::Canvas,
    frame_count::{FrameCount, Layout},
};
use super::MAX_SIDE;

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
pub(crate) struct Animation {
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
    pub(crate) fn of(bytes: &[u8], settings: &AnimationSettings, memory: u64) -> Option<Self> {
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
    pub(crate) fn is_first_frame_only(&self) -> bool {
        self.frames == 1 || self.most == 1
    }

    /// Why part of it cannot be shown. None if all of it can.
    pub(crate) fn unseen(&self) -> Option<ImageProblem> {
        self.unseen
    }

    /// The memory that decoding needs at its peak, in bytes.
    pub(crate) fn memory(&self) -> usize {
        usize::try_from(self.memory).unwrap_or(usize::MAX)
    }
}

/// Called with the canvas after each frame. It returns whether to continue.
type Each<'a> = &'a mut dyn FnMut(&Canvas) -> ControlFlow<()>;
