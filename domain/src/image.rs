//! Images: what a file is, by its first bytes, and how long it is kept.

use crate::{media::named_set, whole::Whole};

/// Bytes of an image at most, whether it is sent along or fetched: 10 MiB.
pub const MAX_IMAGE_BYTES: usize = 10 << 20;

/// For how many days the file of an image is kept after the last verdict about it.
pub type ImageRetentionDays = Whole<0, 3_650>;

named_set! {
    /// The image formats that are taken.
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
    /// Recognises a format by its magic bytes; a declared type is never believed.
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
