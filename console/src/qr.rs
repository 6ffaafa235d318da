//! QR codes as SVG paths.

use std::fmt::Write as _;

use qrcode::{Color, QrCode};

/// The white edge that readers need, in modules.
const EDGE: usize = 4;

/// A QR code.
pub(crate) struct Qr {
    /// Modules on a side, the edge included.
    pub(crate) side: usize,
    /// The dark modules: a path in units of modules.
    pub(crate) path: String,
}

impl Qr {
    /// Of this text; none if it is too long for one.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let code = QrCode::new(text).ok()?;
        let width = code.width();
        let mut path = String::new();
        for (place, color) in code.to_colors().into_iter().enumerate() {
            if color == Color::Dark {
                let (x, y) = (place % width + EDGE, place / width + EDGE);
                // A string takes everything.
                let _ = write!(path, "M{x} {y}h1v1h-1z");
            }
        }
        Some(Self {
            side: width + 2 * EDGE,
            path,
        })
    }
}
