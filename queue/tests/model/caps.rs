//! Caps of a group and of its lanes, while two claims are under way (`migrations/9_claim.sql`): both are exact in every reachable
//! state, no claim waits for ever, and each mechanism is needed.
//!
//! A claim tries the group's lock, then each lane's, then counts what runs in a snapshot of its own, takes jobs, and commits. One
//! statement is one action; a try-lock is one, too.

use crate::checker::{ALL_ENDS, Model, explore};

const GROUP_CAP: &str = "no more jobs of the group run than its cap allows";
const LANE_CAP: &str = "no more jobs of a lane run than its cap allows";

const LANES: usize = 2;

#[derive(Clone, Copy, Debug)]
struct Caps {
    /// None when the group has no cap, and so no lock.
    group_cap: Option<u8>,
    lane_cap: u8,
    /// Claims at most.
    claims: u8,
    without: Option<Mechanism>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mechanism {
    /// A capped group is locked before what runs in it is counted.
    GroupsAreLocked,
    /// A lane is locked before what runs in it is counted.
    LanesAreLocked,
    /// The snapshot that counts is newer than the locks.
    CountsAreNewer,
    /// A claim that has a lane leaves the others that it cannot have at once.
    NobodyWaitsWithALane,
    /// A claim that waited for the group's lock ends, instead of going on to the lanes with what it has seen before.
    GroupsAreAwaitedAlone,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// By their lanes: two in each.
    jobs: [[Job; 2]; LANES],
    claims: [Step; 2],
    left: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Job {
    Due,
    /// Taken by a claim that has not committed.
    Taken(usize),
    Running,
    Done,
}

/// Where a claim stands, with what it has locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Idle,
    /// Counted too early: only without [`Mechanism::CountsAreNewer`].
    Begun(Option<Counts>),
    WaitsForGroup,
    /// Has the group, and tries the lanes from this one of its walk on.
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
type Counts = [u8; LANES];

#[derive(Clone, Copy, Debug)]
enum Action {
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
    fn has_group(self) -> bool {
        !matches!(self, Self::Idle | Self::Begun(_) | Self::WaitsForGroup)
    }

    fn has_lane(self, lane: usize) -> bool {
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
    fn running(&self) -> Counts {
        let in_lane = |lane: &[Job; 2]| lane.iter().map(|job| u8::from(*job == Job::Running)).sum();
        self.jobs.each_ref().map(in_lane)
    }

    fn is_group_free(&self) -> bool {
        !self.claims.iter().any(|claim| claim.has_group())
    }

    fn is_lane_free(&self, lane: usize) -> bool {
        !self.claims.iter().any(|claim| claim.has_lane(lane))
    }
}

/// The walks of two claims begin at different lanes.
const fn lane_of(claim: usize, nth: usize) -> usize {
    (claim + nth) % LANES
}

impl Caps {
    fn has(self, mechanism: Mechanism) -> bool {
        self.without != Some(mechanism)
    }

    fn locks_group(self) -> bool {
        self.group_cap.is_some() && self.has(Mechanism::GroupsAreLocked)
    }

    fn try_lane(self, state: &State, claim: usize, step: Step) -> Step {
        let (Step::Tries { nth, has, early } | Step::WaitsForLane { nth, has, early }) = step
        else {
            return step;
        };
        let lane = lane_of(claim, nth);
        let mut has = has;
        if state.is_lane_free(lane) || !self.has(Mechanism::LanesAreLocked) {
            has[lane] = true;
        } else if !self.has(Mechanism::NobodyWaitsWithALane) {
            return Step::WaitsForLane { nth, has, early };
        }
        if nth + 1 < LANES {
            return Step::Tries {
                nth: nth + 1,
                has,
                early,
            };
        }
        if has.contains(&true) {
            return Step::Locked { has, early };
        }
        // All are taken: it queues up for its first.
        Step::WaitsForLane { nth: 0, has, early }
    }

    fn take(self, next: &mut State, claim: usize, has: [bool; LANES], counts: Counts) {
        let mut room = self
            .group_cap
            .map_or(u8::MAX, |cap| cap.saturating_sub(counts.iter().sum()));
        for nth in 0..LANES {
            let lane = lane_of(claim, nth);
            let mut lane_room = self.lane_cap.saturating_sub(counts[lane]);
            for job in &mut next.jobs[lane] {
                if has[lane] && *job == Job::Due && room > 0 && lane_room > 0 {
                    *job = Job::Taken(claim);
                    room -= 1;
                    lane_room -= 1;
                }
            }
        }
    }
}

impl Model for Caps {
    type State = State;
    type Action = Action;

    fn start(&self) -> State {
        State {
            jobs: [[Job::Due; 2]; LANES],
            claims: [Step::Idle; 2],
            left: self.claims,
        }
    }

    fn actions(&self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        for (claim, step) in state.claims.iter().enumerate() {
            match *step {
                Step::Idle if state.left == 0 => {}
                Step::Idle => actions.push(Action::Begin(claim)),
                Step::Begun(_) => actions.push(Action::TryGroup(claim)),
                Step::WaitsForGroup if !state.is_group_free() => {}
                Step::Tries { .. } => actions.push(Action::TryLane(claim)),
                Step::WaitsForLane { nth, .. } if !state.is_lane_free(lane_of(claim, nth)) => {}
                Step::WaitsForGroup | Step::WaitsForLane { .. } => {
                    actions.push(Action::Wake(claim));
                }
                Step::Locked { .. } => actions.push(Action::Count(claim)),
                Step::Counted { .. } => actions.push(Action::Take(claim)),
                Step::Took { .. } => actions.push(Action::Commit(claim)),
            }
        }
        for (lane, jobs) in state.jobs.iter().enumerate() {
            for (job, found) in jobs.iter().enumerate() {
                if *found == Job::Running {
                    actions.push(Action::End { lane, job });
                }
            }
        }
        actions
    }

    fn after(&self, state: &State, action: Action) -> State {
        let mut next = state.clone();
        match action {
            Action::Begin(claim) => {
                next.left -= 1;
                let early = (!self.has(Mechanism::CountsAreNewer)).then(|| state.running());
                next.claims[claim] = Step::Begun(early);
            }
            Action::TryGroup(claim) => {
                let Step::Begun(early) = state.claims[claim] else {
                    return next;
                };
                next.claims[claim] = if state.is_group_free() || !self.locks_group() {
                    let has = [false; LANES];
                    Step::Tries { nth: 0, has, early }
                } else {
                    Step::WaitsForGroup
                };
            }
            Action::TryLane(claim) => {
                next.claims[claim] = self.try_lane(state, claim, state.claims[claim]);
            }
            Action::Wake(claim) => {
                next.claims[claim] = match state.claims[claim] {
                    Step::WaitsForGroup if self.has(Mechanism::GroupsAreAwaitedAlone) => Step::Idle,
                    // What it counted before it began to wait.
                    Step::WaitsForGroup => Step::Tries {
                        nth: 0,
                        has: [false; LANES],
                        early: Some([0; LANES]),
                    },
                    Step::WaitsForLane {
                        nth,
                        mut has,
                        early,
                    } => {
                        has[lane_of(claim, nth)] = true;
                        Step::Locked { has, early }
                    }
                    step => step,
                };
            }
            Action::Count(claim) => {
                if let Step::Locked { has, early } = state.claims[claim] {
                    let counts = early.unwrap_or_else(|| state.running());
                    next.claims[claim] = Step::Counted { has, counts };
                }
            }
            Action::Take(claim) => {
                if let Step::Counted { has, counts } = state.claims[claim] {
                    self.take(&mut next, claim, has, counts);
                    next.claims[claim] = Step::Took { has };
                }
            }
            Action::Commit(claim) => {
                for job in next.jobs.iter_mut().flatten() {
                    if *job == Job::Taken(claim) {
                        *job = Job::Running;
                    }
                }
                next.claims[claim] = Step::Idle;
            }
            Action::End { lane, job } => next.jobs[lane][job] = Job::Done,
        }
        next
    }

    fn broken_promise(&self, state: &State) -> Option<&'static str> {
        let running = state.running();
        if running.iter().any(|&jobs| jobs > self.lane_cap) {
            Some(LANE_CAP)
        } else if self
            .group_cap
            .is_some_and(|cap| running.iter().sum::<u8>() > cap)
        {
            Some(GROUP_CAP)
        } else {
            None
        }
    }

    fn has_ended(&self, state: &State) -> bool {
        let is_idle = state.claims.iter().all(|claim| *claim == Step::Idle);
        let mut jobs = state.jobs.iter().flatten();
        is_idle && state.left == 0 && !jobs.any(|job| *job == Job::Running)
    }
}

const CAPPED: Caps = Caps {
    group_cap: Some(1),
    lane_cap: 1,
    claims: 5,
    without: None,
};

const LANES_ONLY: Caps = Caps {
    group_cap: None,
    ..CAPPED
};

#[track_caller]
fn broken(caps: Caps, mechanism: Mechanism) -> &'static str {
    let crippled = Caps {
        without: Some(mechanism),
        ..caps
    };
    match explore(&crippled) {
        Ok(states) => panic!("{states} states, and {mechanism:?} is never missed"),
        Err(found) => found.promise,
    }
}

#[test]
fn caps_of_groups_and_lanes_are_exact_and_nobody_waits_for_ever() {
    for caps in [CAPPED, LANES_ONLY] {
        let states = explore(&caps).unwrap_or_else(|found| panic!("{found:?}"));
        assert!(states > 500, "{states}");
    }
}

#[test]
fn without_the_lock_of_a_group_two_claims_of_its_lanes_exceed_its_cap() {
    assert_eq!(broken(CAPPED, Mechanism::GroupsAreLocked), GROUP_CAP);
}

#[test]
fn without_the_lock_of_a_lane_two_claims_exceed_its_cap_whatever_its_group_is() {
    assert_eq!(broken(LANES_ONLY, Mechanism::LanesAreLocked), LANE_CAP);
}

#[test]
fn without_a_newer_snapshot_locks_do_not_help() {
    assert_eq!(broken(CAPPED, Mechanism::CountsAreNewer), GROUP_CAP);
    assert_eq!(broken(LANES_ONLY, Mechanism::CountsAreNewer), LANE_CAP);
}

#[test]
fn who_waits_with_a_lane_in_hand_waits_for_ever() {
    assert_eq!(
        broken(LANES_ONLY, Mechanism::NobodyWaitsWithALane),
        ALL_ENDS
    );
}

#[test]
fn who_waited_for_a_group_must_not_go_on_with_what_it_saw_before() {
    assert_eq!(broken(CAPPED, Mechanism::GroupsAreAwaitedAlone), GROUP_CAP);
}
