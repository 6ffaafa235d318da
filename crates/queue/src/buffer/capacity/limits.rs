//! How many jobs of each group and lane a claim may bring.

use crate::{Group, Lane};

/// How many jobs of each group and lane a claim may bring. Its size is bounded, whatever is in the
/// buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// For a group that is not listed.
    pub(crate) group: usize,
    /// For each of these groups.
    pub(crate) groups: Vec<(Group, usize)>,
    /// How much a lane that is not listed may already have here.
    pub(crate) lane_has: usize,
    /// For each of these lanes.
    pub(crate) lanes: Vec<(Lane, usize)>,
    /// How much of it other claims may bring in the meantime.
    pub(crate) incoming: usize,
    /// Groups and lanes without any room.
    pub(super) full: Full,
}

/// Groups and lanes that a claim had to leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Full {
    pub(super) groups: Vec<Group>,
    pub(super) lanes: Vec<(Group, Lane)>,
}

impl Full {
    /// Only one group.
    pub(crate) fn group(group: Group) -> Self {
        Self {
            groups: vec![group],
            lanes: Vec::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.lanes.is_empty()
    }
}

impl Limits {
    /// Groups and lanes without any room.
    pub(crate) const fn full(&self) -> &Full {
        &self.full
    }

    /// How many jobs of this group.
    pub(crate) fn of(&self, group: Group) -> usize {
        let listed = self.groups.iter().find(|(listed, _)| *listed == group);
        listed.map_or(self.group, |(_, room)| *room)
    }

    /// Whether any group with jobs here has room for more, or no group has jobs here.
    pub(crate) fn has_room(&self) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|(_, room)| *room > 0)
    }
}
