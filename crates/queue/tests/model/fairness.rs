//! Turns of groups and of their lanes: no group or lane with jobs is passed over for long, and each
//! mechanism is needed.
//!
//! Each claim takes one job. It walks over the ring of groups, then over the ring of a group's
//! lanes. Jobs come at any time: a lane has one job or none.

use crate::checker::{Model, explore};

const LANE: &str = "a lane is passed over by its group's other lanes at most once each";
const GROUP: &str =
    "a group is passed over by the other groups at most once each, however many lanes they have";

/// By group: one group with three lanes, and one with a single lane.
const LANES: [usize; 2] = [3, 1];
const MOST: usize = 3;

#[derive(Clone, Copy, Debug)]
struct Turns {
    without: Option<Mechanism>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mechanism {
    /// The walk goes over groups first.
    GroupsComeFirst,
    /// The next claim begins behind the group that was served last.
    GroupsPlaceIsKept,
    /// A group's next turn begins behind its lane that was served last.
    LanesPlaceIsKept,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct State {
    is_due: [[bool; MOST]; 2],
    /// How often another lane of its group was served while it waited.
    lane_passed: [[u8; MOST]; 2],
    /// How often another group was served while it had a job.
    group_passed: [u8; 2],
    /// The group and the lane that were served last.
    last: usize,
    rings: [usize; 2],
    /// In a walk without groups: the place among all lanes.
    flat: usize,
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Enqueue { group: usize, lane: usize },
    Claim,
}

impl State {
    fn has_due(&self, group: usize) -> bool {
        self.is_due[group].contains(&true)
    }

    fn serve(&mut self, group: usize, lane: usize) {
        self.is_due[group][lane] = false;
        self.lane_passed[group][lane] = 0;
        self.group_passed[group] = 0;
        for other in 0..LANES[group] {
            if self.is_due[group][other] {
                self.lane_passed[group][other] = self.lane_passed[group][other].saturating_add(1);
            }
        }
        for other in (0..LANES.len()).filter(|&other| other != group) {
            if self.has_due(other) {
                self.group_passed[other] = self.group_passed[other].saturating_add(1);
            }
        }
        self.last = group;
        self.rings[group] = lane;
    }
}

impl Turns {
    fn has(self, mechanism: Mechanism) -> bool {
        self.without != Some(mechanism)
    }

    fn next(self, state: &State) -> Option<(usize, usize)> {
        if !self.has(Mechanism::GroupsComeFirst) {
            let all: Vec<_> = (0..2)
                .flat_map(|group| (0..LANES[group]).map(move |lane| (group, lane)))
                .collect();
            let mut ring = (1..=all.len()).map(|nth| all[(state.flat + nth) % all.len()]);
            return ring.find(|&(group, lane)| state.is_due[group][lane]);
        }
        let last = if self.has(Mechanism::GroupsPlaceIsKept) {
            state.last
        } else {
            LANES.len() - 1
        };
        let mut groups = (1..=LANES.len()).map(|nth| (last + nth) % LANES.len());
        let group = groups.find(|&group| state.has_due(group))?;
        let last = if self.has(Mechanism::LanesPlaceIsKept) {
            state.rings[group]
        } else {
            LANES[group] - 1
        };
        let mut lanes = (1..=LANES[group]).map(|nth| (last + nth) % LANES[group]);
        let lane = lanes.find(|&lane| state.is_due[group][lane])?;
        Some((group, lane))
    }
}

impl Model for Turns {
    type State = State;
    type Action = Action;

    fn start(&self) -> State {
        State::default()
    }

    fn actions(&self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        for (group, &lanes) in LANES.iter().enumerate() {
            for lane in (0..lanes).filter(|&lane| !state.is_due[group][lane]) {
                actions.push(Action::Enqueue { group, lane });
            }
        }
        if self.next(state).is_some() {
            actions.push(Action::Claim);
        }
        actions
    }

    fn after(&self, state: &State, action: Action) -> State {
        let mut next = state.clone();
        match action {
            Action::Enqueue { group, lane } => {
                if !next.has_due(group) {
                    next.group_passed[group] = 0;
                }
                next.is_due[group][lane] = true;
                next.lane_passed[group][lane] = 0;
            }
            Action::Claim => {
                if let Some((group, lane)) = self.next(state) {
                    next.serve(group, lane);
                    next.flat = LANES[..group].iter().sum::<usize>() + lane;
                }
            }
        }
        next
    }

    fn broken_promise(&self, state: &State) -> Option<&'static str> {
        let lanes = state.lane_passed.iter().zip(LANES);
        let is_passed = |(passed, lanes): (&[u8; MOST], usize)| {
            passed.iter().any(|&times| usize::from(times) > lanes - 1)
        };
        if state.group_passed.iter().any(|&times| times > 1) {
            Some(GROUP)
        } else if lanes.into_iter().any(is_passed) {
            Some(LANE)
        } else {
            None
        }
    }

    /// Jobs may come for ever.
    fn has_ended(&self, _: &State) -> bool {
        true
    }
}

#[track_caller]
fn broken(mechanism: Mechanism) -> &'static str {
    let crippled = Turns {
        without: Some(mechanism),
    };
    match explore(&crippled) {
        Ok(states) => panic!("{states} states, and {mechanism:?} is never missed"),
        Err(found) => found.promise,
    }
}

#[test]
fn groups_have_their_turns_and_so_have_their_lanes() {
    let states = explore(&Turns { without: None }).unwrap_or_else(|found| panic!("{found:?}"));
    assert!(states > 100, "{states}");
}

#[test]
fn without_groups_an_owner_of_many_lanes_goes_before_one_of_a_single_lane() {
    assert_eq!(broken(Mechanism::GroupsComeFirst), GROUP);
}

#[test]
fn without_its_place_in_the_ring_of_groups_a_claim_serves_the_first_again_and_again() {
    assert_eq!(broken(Mechanism::GroupsPlaceIsKept), GROUP);
}

#[test]
fn without_a_groups_place_in_the_ring_of_its_lanes_its_first_lane_goes_before_the_others() {
    assert_eq!(broken(Mechanism::LanesPlaceIsKept), LANE);
}
