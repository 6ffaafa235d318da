//! How evenly claims are divided among lanes.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

/// How many were taken from each open lane.
pub(super) fn shares(taken: &[Uuid], open: &HashSet<Uuid>) -> Vec<u64> {
    let mut shares: HashMap<Uuid, u64> = open.iter().map(|&lane| (lane, 0)).collect();
    for lane in taken {
        if let Some(share) = shares.get_mut(lane) {
            *share += 1;
        }
    }
    shares.into_values().collect()
}

/// Jain's index of fairness: 1 when all shares are equal, 1/n when one has everything.
/// Source: Jain, Chiu, Hawe, "A quantitative measure of fairness", DEC-TR-301, 1984.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn jain(shares: &[u64]) -> f64 {
    let sum: u64 = shares.iter().sum();
    let squares: u64 = shares.iter().map(|share| share * share).sum();
    if squares == 0 {
        return 0.0;
    }
    (sum as f64).powi(2) / (shares.len() as f64 * squares as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::lane;

    #[test]
    fn the_index_of_fairness_is_one_when_all_is_equal_and_a_share_when_one_has_all() {
        assert!((jain(&[7, 7, 7, 7]) - 1.0).abs() < 1e-9);
        assert!((jain(&[28, 0, 0, 0]) - 0.25).abs() < 1e-9);
        assert!(jain(&[]).abs() < 1e-9);
    }

    #[test]
    fn a_lane_that_got_nothing_has_a_share_too() {
        let open = HashSet::from([lane(1).0, lane(2).0]);
        let mut shares = shares(&[lane(1).0, lane(1).0, lane(3).0], &open);
        shares.sort_unstable();
        assert_eq!(shares, [0, 2]);
    }
}
