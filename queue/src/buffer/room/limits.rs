//! How many jobs of each group and lane a claim may bring.

use crate::{Group, Lane};

/// How many jobs of each group and lane a claim may bring. With a bounded number of words, whatever is in the buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Of a group that is not listed.
    pub(crate) group: usize,
    /// Of each of these.
    pub(crate) groups: Vec<(Group, usize)>,
    /// What a lane that is not listed may have here already.
    pub(crate) lane_has: usize,
    /// Of each of these.
    pub(crate) lanes: Vec<(Lane, usize)>,
    /// What other claims may bring of it meanwhile.
    pub(crate) in_flight: usize,
    /// Who has no room at all.
    pub(super) full: Full,
}

/// Groups and lanes that a claim had to leave out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Full {
    pub(super) groups: Vec<Group>,
    pub(super) lanes: Vec<(Group, Lane)>,
}

impl Full {
    /// One group.
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
    /// Who has no room at all.
    pub(crate) const fn full(&self) -> &Full {
        &self.full
    }

    /// How many jobs of a group.
    pub(crate) fn of(&self, group: Group) -> usize {
        let listed = self.groups.iter().find(|(listed, _)| *listed == group);
        listed.map_or(self.group, |(_, room)| *room)
    }

    /// Whether anybody who has jobs here has room for more, or nobody has any.
    pub(crate) fn has_room(&self) -> bool {
        self.groups.is_empty() || self.groups.iter().any(|(_, room)| *room > 0)
    }
}
