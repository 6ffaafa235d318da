//! What the tables and two claims hold, and what can happen to them.

pub(super) const LANES: usize = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// By their lanes: two in each.
    pub(super) jobs: [[Job; 2]; LANES],
    pub(super) claims: [Step; 2],
    pub(super) left: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Job {
    Due,
    /// Taken by a claim that has not committed.
    Taken(usize),
    Running,
    Done,
}

/// The step of a claim, with its locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    Idle,
    /// Counted too early: only without [`Mechanism::CountsAreNewer`].
    Begun(Option<Counts>),
    WaitsForGroup,
    /// Has the group, and tries the lanes from this one on.
    Tries {
        nth: usize,
        has: [bool; LANES],
        early: Option<Counts>,
    },
    WaitsForLane {
        nth: usize,
        has: [bool; LANES],
        early: Option<Counts>,
    },
    Locked {
        has: [bool; LANES],
        early: Option<Counts>,
    },
    Counted {
        has: [bool; LANES],
        counts: Counts,
    },
    Took {
        has: [bool; LANES],
    },
}

/// The jobs running in each lane, as counted.
pub(super) type Counts = [u8; LANES];

#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    Begin(usize),
    TryGroup(usize),
    TryLane(usize),
    Wake(usize),
    Count(usize),
    Take(usize),
    Commit(usize),
    End { lane: usize, job: usize },
}

impl Step {
    pub(super) fn has_group(self) -> bool {
        !matches!(self, Self::Idle | Self::Begun(_) | Self::WaitsForGroup)
    }

    pub(super) fn has_lane(self, lane: usize) -> bool {
        match self {
            Self::Idle | Self::Begun(_) | Self::WaitsForGroup => false,
            Self::Tries { has, .. }
            | Self::WaitsForLane { has, .. }
            | Self::Locked { has, .. }
            | Self::Counted { has, .. }
            | Self::Took { has } => has[lane],
        }
    }
}

impl State {
    pub(super) fn running(&self) -> Counts {
        let in_lane = |lane: &[Job; 2]| lane.iter().map(|job| u8::from(*job == Job::Running)).sum();
        self.jobs.each_ref().map(in_lane)
    }

    pub(super) fn is_group_free(&self) -> bool {
        !self.claims.iter().any(|claim| claim.has_group())
    }

    pub(super) fn is_lane_free(&self, lane: usize) -> bool {
        !self.claims.iter().any(|claim| claim.has_lane(lane))
    }
}

/// The walks of two claims begin at different lanes.
pub(super) const fn lane_of(claim: usize, nth: usize) -> usize {
    (claim + nth) % LANES
}
