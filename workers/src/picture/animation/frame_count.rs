//! Counts the frames of a file that may be decoded, before any of them is decoded.

use domain::decision::ImageProblem;

use crate::picture::Header;

/// The cost of decoding the smallest frame, in pixels. Each frame has tables and a palette of its
/// own.
const LEAST_FRAME: u64 = 10_000;

/// The canvas that a file declares.
pub(super) struct Layout {
    pub(super) width: u32,
    pub(super) height: u32,
    /// The memory for decoding it frame by frame at its peak, in bytes.
    pub(super) memory: u64,
}

/// Counts the frames that may be decoded.
pub(super) struct FrameCount {
    pub(super) frames: usize,
    /// Pixels that may still be decoded.
    left: u64,
    pub(super) unseen: Option<ImageProblem>,
}

impl FrameCount {
    pub(super) fn new(pixels: u64) -> Self {
        Self {
            frames: 0,
            left: pixels,
            unseen: None,
        }
    }

    /// Counts a frame of this size. None if it may not be decoded. For the first frame, the bounds
    /// of still pictures apply.
    pub(super) fn frame(&mut self, width: u32, height: u32) -> Option<()> {
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
    pub(super) fn damaged(&mut self) {
        self.unseen.get_or_insert(ImageProblem::Undecodable);
    }
}
