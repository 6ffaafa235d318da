//! Models that score English texts in five categories.

mod encoder;
mod features;
mod hashed_features;
mod linear;
mod normalize;
mod scores;
mod wordpiece;

use std::sync::LazyLock;

pub use encoder::Encoder;
pub use linear::{Linear, Scored};
pub use scores::TextScores;

/// The linear model whose file is part of the program. It is read at the first call, which takes a
/// few milliseconds, and stays in memory (3 MB).
///
/// # Panics
/// Never: a test reads the file.
pub fn linear() -> &'static Linear {
    static LINEAR: LazyLock<Linear> = LazyLock::new(|| {
        Linear::read(include_bytes!("../text/linear.clf")).expect("a test reads this file")
    });
    &LINEAR
}
