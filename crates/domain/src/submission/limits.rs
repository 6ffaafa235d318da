//! How large a submission and its fields may be.

use crate::image::MAX_IMAGE_BYTES;

/// Bounds of one submission. Sizes are bytes.
#[derive(Clone, Copy, Debug)]
pub struct SubmissionLimits {
    /// Text, as UTF-8.
    pub text: usize,
    /// An inline image, decoded.
    pub image: usize,
    /// The raw JSON of `metadata`.
    pub metadata: usize,
    /// How deep the objects and arrays of `metadata` may be nested. The outermost object counts as
    /// 1.
    pub metadata_depth: usize,
}

impl Default for SubmissionLimits {
    /// The documented limits: 100 KB of text, 10 MB of image, 16 KiB of metadata with a depth of
    /// 32. Deeper metadata could be stored, but many JSON parsers of receivers refuse it, and the
    /// event adds levels of its own.
    fn default() -> Self {
        Self {
            text: 100 * 1024,
            image: MAX_IMAGE_BYTES,
            metadata: 16 * 1024,
            metadata_depth: 32,
        }
    }
}

/// Longest `app_media_id`, in characters.
pub const MAX_APP_MEDIA_ID: usize = 1_024;

/// Longest `content_url`, in bytes: what browsers and servers commonly accept.
pub const MAX_CONTENT_URL: usize = 8_192;
