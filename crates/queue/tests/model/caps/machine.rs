//! What can happen next, and what it leads to.

use super::{
    Caps, GROUP_CAP, LANE_CAP, Mechanism,
    state::{Action, Counts, Job, LANES, State, Step, lane_of},
};
use crate::checker::Model;

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
        // All are taken: it waits for its first lane.
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
                    // It uses what it counted before it began to wait.
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
