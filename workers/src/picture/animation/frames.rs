//! The chosen frames of a picture, as renditions.

use std::ops::ControlFlow;

use domain::{decision::ImageProblem, image::ImageFormat};
use image::metadata::Orientation;

use super::{Animation, canvas::Canvas, gif, png, webp};
use crate::picture::{self, Limits, Rendition};

/// The most bytes of all renditions of one animation together.
pub(super) const RENDITIONS: usize = 10 << 20;

/// The frames of a picture that are shown: one of a still picture, several of an animation.
#[derive(Debug)]
pub(crate) struct Frames {
    /// In their order, at least one.
    pub(crate) frames: Vec<Frame>,
    /// Why part of it could not be shown. None if all of it could.
    pub(crate) unseen: Option<ImageProblem>,
}

/// A frame as a viewer shows it.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Its number in the file, from 0.
    pub(crate) number: usize,
    pub(crate) rendition: Rendition,
}

impl Frames {
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
    /// Decodes the same file, and makes renditions of the first frame, the last one and some
    /// between. Blocks, for up to a few seconds. If a frame cannot be decoded, the frames before it
    /// are shown.
    ///
    /// # Errors
    /// Those of [`Picture::decode`](picture::Picture::decode) if not even the first frame can be decoded, and of
    /// [`Picture::rendition`](picture::Picture::rendition).
    pub(crate) fn frames(self, bytes: &[u8], limits: &Limits) -> Result<Frames, ImageProblem> {
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
            ImageFormat::Png => picture::png::orientation_of(bytes),
            ImageFormat::Webp => picture::webp::orientation_of(bytes),
            ImageFormat::Gif | ImageFormat::Jpeg => Orientation::NoTransforms,
        }
    }
}

/// The numbers of the frames that are shown: the first, the last, and evenly spaced ones between, `most` in all.
pub(super) fn chosen(frames: usize, most: usize) -> Vec<usize> {
    match most.min(frames) {
        0 | 1 => vec![0],
        count => {
            let (last, gaps) = (frames - 1, count - 1);
            // To the nearest.
            (0..count).map(|i| (i * last + gaps / 2) / gaps).collect()
        }
    }
}
