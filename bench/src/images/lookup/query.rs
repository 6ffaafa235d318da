//! What is looked up.

use serde::Serialize;

/// What is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Query {
    /// A hash that is like none on the list, as almost every real picture's.
    Unknown,
    /// One that differs from a listed one in up to 31 bits.
    Alike,
    /// One on a list that was made to cost time: all hashes on it are within a few bits of each other.
    Crowded,
}

impl Query {
    pub(crate) const ALL: [Self; 3] = [Self::Unknown, Self::Alike, Self::Crowded];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unknown => "Looking up what is like nothing on the list",
            Self::Alike => "Looking up what is like something on the list",
            Self::Crowded => "Looking up on a list of hashes that are all alike",
        }
    }

    pub(super) const fn file(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Alike => "alike",
            Self::Crowded => "crowded",
        }
    }
}
