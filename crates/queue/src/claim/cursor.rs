//! The cursor of the claims: the place in the rings of groups and lanes, from one claim to the next.

use std::ops::RangeInclusive;

use uuid::Uuid;

use super::claimed::Claimed;

/// The groups that a claim visits at first: twice the number of wanted jobs, within these limits.
/// The same for lanes.
const NARROW: RangeInclusive<i32> = 8..=64;
/// The most groups that a claim visits.
const WIDEST: i32 = 1024;
/// Claims without a job in a row, each over groups not yet seen, before sleeping anyway: if so many
/// groups are paused or full, the walk must not spin.
const EMPTY_CLAIMS: u32 = 32;
/// After this many full claims in a row, half as many groups are tried.
const NARROWED_AFTER: u32 = 8;
/// The most groups whose place in the ring of their lanes is kept. For other groups, the next turn
/// begins with the first lane.
const RINGS: usize = 64;

/// The place of the walk over the ring of groups.
pub(super) struct Cursor {
    /// The last group that was visited, or the last one that was served.
    pub(super) after: Uuid,
    /// For groups with more lanes than had their turn: the last lane that was visited or served.
    /// The latest group is at the end.
    rings: Vec<(Uuid, Uuid)>,
    /// The last claim came back full, so the next one should expect many jobs.
    pub(super) is_deep: bool,
    /// How often the window has been doubled, because claims returned too few jobs.
    widened: u32,
    full_claims: u32,
    empty_claims: u32,
}

impl Cursor {
    /// A walk that begins at a random place, so that several walks do not compete for the same
    /// groups.
    pub(super) fn anywhere() -> Self {
        Self {
            after: Uuid::from_u128(rand::random()),
            rings: Vec::new(),
            is_deep: false,
            widened: 0,
            full_claims: 0,
            empty_claims: 0,
        }
    }

    /// How many groups to visit for this many jobs.
    pub(super) fn window(&self, wanted: usize) -> i32 {
        let wanted = i32::try_from(wanted).unwrap_or(i32::MAX);
        let narrow = wanted
            .saturating_mul(2)
            .clamp(*NARROW.start(), *NARROW.end());
        narrow
            .checked_shl(self.widened)
            .map_or(WIDEST, |window| window.min(WIDEST))
    }

    /// Groups, and the lanes after which their next turns begin.
    pub(super) fn rings(&self) -> (Vec<Uuid>, Vec<Uuid>) {
        self.rings.iter().copied().unzip()
    }

    /// Records how far the walk came. Returns false if another claim would find nothing now.
    pub(super) fn go_on(&mut self, claimed: &Claimed, got: usize, wanted: usize) -> bool {
        self.after = claimed.next_group;
        self.is_deep = got >= wanted;
        let groups = claimed.ring_groups.iter().flatten();
        let lanes = claimed.ring_lanes.iter().flatten();
        for (&group, &lane) in groups.zip(lanes) {
            self.turn(group, lane);
        }
        let window = self.window(wanted);
        self.full_claims = if got >= wanted {
            self.full_claims + 1
        } else {
            0
        };
        if claimed.visited >= window && got < wanted && window < WIDEST {
            self.widened += 1;
        } else if claimed.visited < window / 2 || self.full_claims >= NARROWED_AFTER {
            self.widened = self.widened.saturating_sub(1);
            self.full_claims = 0;
        }
        self.empty_claims = if got == 0 { self.empty_claims + 1 } else { 0 };
        if self.empty_claims >= EMPTY_CLAIMS {
            self.empty_claims = 0;
            return false;
        }
        claimed.more
    }

    fn turn(&mut self, group: Uuid, lane: Uuid) {
        self.rings.retain(|(other, _)| *other != group);
        if self.rings.len() >= RINGS {
            self.rings.remove(0);
        }
        self.rings.push((group, lane));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_a_ring_is_kept_for_so_many_groups() {
        let mut cursor = Cursor::anywhere();
        let id = |n: usize| Uuid::from_u128(n as u128);
        for n in 0..RINGS {
            cursor.turn(id(n), id(1));
        }
        cursor.turn(id(0), id(2));
        cursor.turn(id(RINGS), id(3));
        let (groups, lanes) = cursor.rings();
        assert_eq!(groups.len(), RINGS);
        assert!(!groups.contains(&id(1)), "the one that was longest ago");
        assert_eq!(groups[RINGS - 2..], [id(0), id(RINGS)]);
        assert_eq!(lanes[RINGS - 2..], [id(2), id(3)]);
    }
}
