//! The faults that every provider shows, and how Gatehouse treats them.

use crate::support::{Fault, Mode};

/// How items that wait for a provider treat its failure.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    /// It is temporary: an item has five attempts.
    Attempts,
    /// It is final.
    Once,
    /// The provider is paused for a while, then gets one request, and so on. No attempt is charged.
    Paused,
}

/// The most providers that a file may contain.
pub(super) const MOST: usize = 100;

/// Some of [`Fault::all`]. `answers.rs` tries all of them with one request each. Here, each kind of
/// provider gets as many of them as the file has room for, and several kinds get each of them.
pub(super) const FAULTS: [(&str, Mode, Course); 21] = [
    ("hang", Mode::Hang, Course::Attempts),
    ("500", Mode::Status(500), Course::Attempts),
    ("400", Mode::Status(400), Course::Once),
    ("302", Mode::Status(302), Course::Once),
    ("401", Mode::Status(401), Course::Paused),
    ("403", Mode::Status(403), Course::Attempts),
    ("429", Mode::Status(429), Course::Paused),
    ("now", Mode::Limited("0"), Course::Paused),
    ("limited", Mode::Limited("5"), Course::Paused),
    ("hidden", Mode::Hidden, Course::Paused),
    ("half", Mode::Half, Course::Attempts),
    ("foreign", Mode::Foreign, Course::Attempts),
    ("malformed", Mode::Malformed, Course::Attempts),
    ("huge", Mode::Huge, Course::Attempts),
    ("reset", Mode::Reset, Course::Attempts),
    ("cut", Mode::Wrong(Fault::CutOff), Course::Attempts),
    ("bomb", Mode::Wrong(Fault::Bomb), Course::Attempts),
    ("endless", Mode::Wrong(Fault::ENDLESS), Course::Attempts),
    (
        "headers",
        Mode::Wrong(Fault::Headers(5_000)),
        Course::Attempts,
    ),
    ("deep", Mode::Wrong(Fault::DEEP), Course::Attempts),
    ("metadata", Mode::Wrong(Fault::METADATA), Course::Once),
];

impl Course {
    /// The most requests for two items that arrive together. One of them has a second provider.
    pub(super) const fn most(self) -> usize {
        match self {
            // Five attempts for each item. The breaker opens after five failures in a row, and then
            // only probes are sent.
            Self::Attempts => 5 + 5,
            Self::Once => 1 + 1,
            // After 0, 1, 3, 7, 15 and 31 seconds. With a breaker: after 0, 5, 15 and 35 seconds.
            // Both items may send the first request.
            Self::Paused => 7 + 1,
        }
    }
}
