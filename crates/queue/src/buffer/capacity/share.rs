//! How much of the buffer each group and lane may have.

use super::{Full, Limits, part};
use crate::{
    Group, Lane,
    buffer::contents::{Contents, OfGroup, OfLane},
};

/// How many groups, and how many lanes, a claim gets listed with their room.
const LISTED: usize = 64;

/// Room is counted so that it suffices whatever the claims under way bring.
impl<T> Contents<T> {
    pub(super) fn limits(&self, capacity: usize) -> Limits {
        let mut limits = Limits {
            incoming: self.incoming,
            ..Limits::default()
        };
        let mut groups: Vec<_> = self.groups.iter().collect();
        let unlisted = largest(&mut groups, |(_, group)| group.len);
        for &(&group, _) in &groups {
            let room = self.told_group(group, capacity);
            if room == 0 {
                limits.full.groups.push(group);
            }
            limits.groups.push((group, room));
        }
        let left = capacity.saturating_sub(self.len + unlisted).div_ceil(2);
        limits.group = left.saturating_sub(self.incoming).max(1);

        let mut lanes: Vec<_> = self
            .groups
            .iter()
            .flat_map(|(&group, of_group)| {
                let shared = of_group
                    .lanes
                    .iter()
                    .filter(move |(lane, _)| lane.0 != group.0);
                shared.map(move |(&lane, of_lane)| (group, lane, of_lane.len()))
            })
            .collect();
        limits.lane_has = largest(&mut lanes, |(_, _, len)| *len);
        for &(group, lane, _) in &lanes {
            let room = self.told_lane(group, lane, capacity);
            if room == 0 {
                limits.full.lanes.push((group, lane));
            }
            limits.lanes.push((lane, room));
        }
        limits
    }

    pub(super) fn has_eased(&self, full: &Full, capacity: usize) -> bool {
        let mut groups = full.groups.iter();
        let mut lanes = full.lanes.iter();
        groups.any(|&group| self.told_group(group, capacity) > 0)
            || lanes.any(|&(group, lane)| self.told_lane(group, lane, capacity) > 0)
    }

    /// The room of a group that a claim is told. It is 0 if the group has much here already and
    /// less room than a claim needs, so that claims bring many jobs at once.
    pub(super) fn told_group(&self, group: Group, capacity: usize) -> usize {
        let own = self.groups.get(&group).map_or(0, |group| group.len);
        worth_while(self.room_of_group(group, capacity), own, capacity)
    }

    fn told_lane(&self, group: Group, lane: Lane, capacity: usize) -> usize {
        let (_, own) = self.len_of(group, lane);
        worth_while(self.room_of_lane(group, lane, capacity), own, capacity)
    }

    /// How much a group may have: at most as much as remains free.
    fn share_of_group(&self, group: Group, capacity: usize) -> usize {
        let own = self.groups.get(&group).map_or(0, |group| group.len);
        capacity.saturating_sub(self.len - own).div_ceil(2)
    }

    pub(crate) fn room_of_group(&self, group: Group, capacity: usize) -> usize {
        let own = self.groups.get(&group).map_or(0, |group| group.len);
        self.share_of_group(group, capacity)
            .saturating_sub(own + self.incoming)
    }

    /// The same for a lane, within its group's part.
    fn share_of_lane(&self, group: Group, lane: Lane, capacity: usize) -> usize {
        let of_group = self.share_of_group(group, capacity);
        if group.0 == lane.0 {
            return of_group;
        }
        let (group, lane) = self.len_of(group, lane);
        of_group.saturating_sub(group - lane).div_ceil(2)
    }

    pub(super) fn room_of_lane(&self, group: Group, lane: Lane, capacity: usize) -> usize {
        let (_, own) = self.len_of(group, lane);
        self.share_of_lane(group, lane, capacity)
            .saturating_sub(own + self.incoming)
    }

    /// The number of jobs of a group here, and of one of its lanes.
    pub(crate) fn len_of(&self, group: Group, lane: Lane) -> (usize, usize) {
        let Some(of_group) = self.groups.get(&group) else {
            return (0, 0);
        };
        let OfGroup { lanes, len, .. } = of_group;
        (*len, lanes.get(&lane).map_or(0, OfLane::len))
    }
}

const fn worth_while(room: usize, own: usize, capacity: usize) -> usize {
    if room >= own * 2 || room >= part(capacity) {
        room
    } else {
        0
    }
}

/// Keeps the largest ones, and returns the size of the largest one that was dropped.
fn largest<E>(all: &mut Vec<E>, len: impl Fn(&E) -> usize) -> usize {
    if all.len() <= LISTED {
        return 0;
    }
    let (_, next, _) = all.select_nth_unstable_by_key(LISTED, |one| std::cmp::Reverse(len(one)));
    let next = len(next);
    all.truncate(LISTED);
    next
}
