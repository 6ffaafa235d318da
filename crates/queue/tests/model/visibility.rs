//! Generations come and go, and every job stays visible: every promise holds in every reachable
//! state, and each mechanism is needed.

use crate::{
    checker::{Model, explore},
    generations::{Action, Generations, Housekeeper, Limits, Mechanism, Session, State, Step},
};

const IN_SIGHT: &str = "every job is where claims look, or where the elected process does";
const IN_COUNT: &str = "every running job is where claims count";
const COUNTED: &str = "a claim sees every job that was in sight when it began to look";

impl Model for Generations {
    type State = State;
    type Action = Action;

    fn start(&self) -> State {
        Generations::start(*self)
    }

    fn actions(&self, state: &State) -> Vec<Action> {
        Generations::actions(*self, state)
    }

    fn after(&self, state: &State, action: Action) -> State {
        Generations::after(*self, state, action)
    }

    fn broken_promise(&self, state: &State) -> Option<&'static str> {
        let job = state.job;
        let is_live = state.is_live(job.generation);
        let misses = |session: &Session| match &session.step {
            Step::Counts(live) => session.knows_job && !live.contains(&job.generation),
            _ => false,
        };
        if !is_live && !state.row.held.contains(&job.generation) {
            Some(IN_SIGHT)
        } else if !is_live && job.is_running {
            Some(IN_COUNT)
        } else if state.sessions.iter().any(misses) {
            Some(COUNTED)
        } else {
            None
        }
    }

    /// Whether nobody is working, and the rotation is done.
    fn has_ended(&self, state: &State) -> bool {
        state.sessions.iter().all(|one| one.step == Step::Idle)
            && state
                .housekeepers
                .iter()
                .all(|&one| one == Housekeeper::Idle)
            && state.row.condemned.is_none()
            && state.row.held.is_empty()
            && !state.is_halfway()
    }
}

const TWO_ROTATIONS: Generations = Generations {
    limits: Limits {
        sessions: 2,
        rotations: 2,
        faults: 1,
    },
    without: None,
};

#[test]
fn every_job_stays_in_sight() {
    let states = explore(&TWO_ROTATIONS).unwrap_or_else(|found| panic!("{found:?}"));
    assert_eq!(states, 144_309);
}

/// The promise that breaks first without a mechanism.
#[track_caller]
fn broken(generations: Generations, mechanism: Mechanism) -> &'static str {
    let crippled = Generations {
        without: Some(mechanism),
        ..generations
    };
    match explore(&crippled) {
        Ok(states) => panic!("{states} states, and {mechanism:?} is never missed"),
        Err(found) => found.promise,
    }
}

#[test]
fn without_the_writers_lock_a_job_appears_out_of_sight() {
    assert_eq!(broken(TWO_ROTATIONS, Mechanism::WritersLock), IN_SIGHT);
}

#[test]
fn without_the_writers_second_look_a_job_appears_out_of_sight() {
    assert_eq!(broken(TWO_ROTATIONS, Mechanism::WritersReadAgain), IN_SIGHT);
}

#[test]
fn without_condemning_first_a_job_drops_out_of_sight() {
    assert_eq!(broken(TWO_ROTATIONS, Mechanism::CondemnedFirst), IN_SIGHT);
}

#[test]
fn without_the_closers_lock_a_job_appears_out_of_sight() {
    assert_eq!(broken(TWO_ROTATIONS, Mechanism::ClosersLock), IN_SIGHT);
}

#[test]
fn without_the_closers_look_a_job_is_left_behind() {
    assert_eq!(broken(TWO_ROTATIONS, Mechanism::ClosersLook), IN_SIGHT);
}

#[test]
fn without_the_holders_look_a_running_job_is_left_uncounted() {
    assert_eq!(broken(TWO_ROTATIONS, Mechanism::HoldersLook), COUNTED);
}

#[test]
fn without_the_movers_lock_a_job_is_moved_out_of_sight() {
    assert_eq!(broken(TWO_ROTATIONS, Mechanism::MoversLock), IN_SIGHT);
}

#[test]
fn without_reading_the_sequence_first_a_claim_overlooks_a_job() {
    assert_eq!(broken(TWO_ROTATIONS, Mechanism::ClaimsReadFirst), COUNTED);
}

/// A claim that takes longer than the patience commits into a held generation, where no claim
/// counts.
#[test]
fn without_awaiting_claims_a_running_job_is_left_uncounted() {
    let promise = broken(TWO_ROTATIONS, Mechanism::ClaimsAreAwaited);
    assert_eq!(promise, IN_COUNT);
}

/// The old generation is left twice while a claim looks. The job that it should count has moved to
/// where it does not look.
#[test]
fn without_awaiting_claims_one_overlooks_a_job_that_moves_twice() {
    let all_is_quick = Generations {
        limits: Limits {
            faults: 0,
            ..TWO_ROTATIONS.limits
        },
        ..TWO_ROTATIONS
    };
    let promise = broken(all_is_quick, Mechanism::ClaimsAreAwaited);
    assert_eq!(promise, COUNTED);
}
