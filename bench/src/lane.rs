//! The lanes that measurements use, and other ids by number.

use queue::Lane;
use uuid::Uuid;

/// A factor that spreads numbers over all possible lanes, like real ids: the golden ratio.
const SPREAD: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;

/// The lane of a number. Different numbers have different lanes.
pub(crate) fn lane(number: u64) -> Lane {
    Lane(spread(number))
}

/// A UUID for a number, anywhere among all possible ones. Different numbers have different UUIDs.
pub(crate) fn spread(number: u64) -> Uuid {
    Uuid::from_u128((u128::from(number) + 1).wrapping_mul(SPREAD))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::lane;

    #[test]
    fn lanes_are_different_and_far_apart() {
        let lanes: HashSet<_> = (0..10_000).map(lane).collect();
        assert_eq!(lanes.len(), 10_000);
        let beginnings: HashSet<u8> = (0..256).map(|n| lane(n).0.as_bytes()[0]).collect();
        assert!(beginnings.len() > 128, "{} beginnings", beginnings.len());
    }
}
