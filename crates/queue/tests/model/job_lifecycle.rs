//! From the claim of a job to its end: every promise holds in every reachable state, and each
//! mechanism is needed.

mod necessity;

use crate::{
    action::Action,
    checker::{ALL_ENDS, Model, explore},
    configuration::{Limits, Mechanism, Protocol},
    invariants,
    state::State,
};

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn start(&self) -> State {
        self.start()
    }

    fn actions(&self, state: &State) -> Vec<Action> {
        self.actions(state)
    }

    fn after(&self, state: &State, action: Action) -> State {
        self.after(state, action)
    }

    fn broken_promise(&self, state: &State) -> Option<&'static str> {
        self.broken_promise(state)
    }

    fn has_ended(&self, state: &State) -> bool {
        state.has_ended()
    }
}

/// One job, and three faults.
const ONE_JOB: Protocol = Protocol {
    jobs: 1,
    workers: 2,
    max_attempts: 2,
    cap: 1,
    limits: Limits {
        faults: 3,
        uncharged: 1,
        ..Limits::NONE
    },
    without: None,
};

/// Two jobs, of which one may run at a time.
const TWO_JOBS: Protocol = Protocol {
    jobs: 2,
    limits: Limits {
        faults: 1,
        ..Limits::NONE
    },
    ..ONE_JOB
};

/// A job that dies easily and may be replayed.
const TWO_LIVES: Protocol = Protocol {
    max_attempts: 1,
    limits: Limits {
        faults: 2,
        replays: 1,
        ..ONE_JOB.limits
    },
    ..ONE_JOB
};

/// A job that records twice before it ends.
const CHECKPOINTS: Protocol = Protocol {
    limits: Limits {
        faults: 3,
        checkpoints: 2,
        ..Limits::NONE
    },
    ..ONE_JOB
};

/// A job with a follow-up job, in a lane that may be paused.
const FOLLOW_UP: Protocol = Protocol {
    limits: Limits {
        faults: 2,
        follow_ups: 1,
        pauses: 1,
        ..Limits::NONE
    },
    ..ONE_JOB
};

/// A job, and another one that a process enqueues.
const INSERTED: Protocol = Protocol {
    max_attempts: 1,
    limits: Limits {
        faults: 2,
        inserts: 1,
        pauses: 1,
        ..Limits::NONE
    },
    ..ONE_JOB
};

#[track_caller]
fn states(protocol: Protocol) -> usize {
    explore(&protocol).unwrap_or_else(|found| panic!("{found:?}"))
}

// The numbers are not a promise. They show whether a change of the model changed what is visited.

#[test]
fn every_promise_holds_for_one_job_and_three_faults() {
    assert_eq!(states(ONE_JOB), 217_517);
}

#[test]
fn every_promise_holds_for_two_jobs_under_a_cap() {
    assert_eq!(states(TWO_JOBS), 54_549);
}

#[test]
fn every_promise_holds_for_a_job_that_is_replayed() {
    assert_eq!(states(TWO_LIVES), 53_213);
}

#[test]
fn every_promise_holds_for_a_job_with_checkpoints() {
    assert_eq!(states(CHECKPOINTS), 161_436);
}

#[test]
fn every_promise_holds_for_a_follow_up_job_taken_at_once() {
    assert_eq!(states(FOLLOW_UP), 191_728);
}

#[test]
fn every_promise_holds_for_a_new_job_taken_at_once() {
    assert_eq!(states(INSERTED), 84_933);
}

/// The promise that breaks first without a mechanism.
#[track_caller]
fn broken(protocol: Protocol, mechanism: Mechanism) -> &'static str {
    let crippled = Protocol {
        without: Some(mechanism),
        ..protocol
    };
    match explore(&crippled) {
        Ok(states) => panic!("{states} states, and {mechanism:?} is never missed"),
        Err(found) => found.promise,
    }
}
