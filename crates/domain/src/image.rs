//! Images: how their format is detected from the first bytes, and how long they are kept.

use crate::{bounded_integer::BoundedInteger, media::named_set};

/// The most bytes of an image, sent inline or fetched: 10 MiB.
pub const MAX_IMAGE_BYTES: usize = 10 << 20;

/// For how many days the file of an image is kept after the last verdict about it.
pub type ImageRetentionDays = BoundedInteger<0, 3_650>;

named_set! {
    /// The supported image formats.
    ImageFormat {
        /// JPEG.
        Jpeg = "jpeg",
        /// PNG.
        Png = "png",
        /// GIF.
        Gif = "gif",
        /// WebP.
        Webp = "webp",
    }
}

impl ImageFormat {
    /// Detects a format from the magic bytes. The declared type is never trusted.
    pub fn sniff(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(Self::Png),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [
                b'R',
                b'I',
                b'F',
                b'F',
                _,
                _,
                _,
                _,
                b'W',
                b'E',
                b'B',
                b'P',
                ..,
            ] => Some(Self::Webp),
            _ => None,
        }
    }
}
