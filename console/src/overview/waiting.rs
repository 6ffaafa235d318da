//! The items that wait for a person.

use management::media::Waiting;

use crate::number::grouped;

/// So many are counted.
pub(super) const COUNTED: usize = 200;

/// The number as people read it.
pub(super) fn count(waiting: &Waiting) -> String {
    let counted = grouped(i64::try_from(waiting.counted).unwrap_or(i64::MAX));
    if waiting.has_more {
        format!("{counted}+")
    } else {
        counted
    }
}
