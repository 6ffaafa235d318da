//! A model that tells whether a picture shows nudity.

mod network;
mod nudity;
mod pixels;
mod resize;

use std::sync::LazyLock;

pub use nudity::Nudity;
pub use pixels::Pixels;

/// Yahoo's `open_nsfw`, whose file is part of the program (6 MB). It is read at the first call, and
/// stays in memory.
///
/// # Panics
/// Never: a test reads the file.
pub fn open_nsfw() -> &'static Nudity {
    static OPEN_NSFW: LazyLock<Nudity> = LazyLock::new(|| {
        Nudity::read(include_bytes!("../image/open_nsfw.bin")).expect("a test reads this file")
    });
    &OPEN_NSFW
}
