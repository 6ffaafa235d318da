//! From the claim of a job to its end: every promise holds in every reachable state, and each mechanism is needed.

use crate::{
    action::Action,
    checker::{ALL_ENDS, Model, explore},
    mechanism::{Limits, Mechanism, Protocol},
    promise,
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

/// One job at the mercy of three faults.
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

/// A job that dies easily and may live again.
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

// The numbers are no promise. They show that a change of the model changed what is visited.

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

/// The promise that is broken first without a mechanism.
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

#[test]
fn without_the_worker_in_the_fence_an_effect_doubles() {
    let promise = broken(ONE_JOB, Mechanism::FenceComparesWorker);
    assert_eq!(promise, promise::ONCE);
}

#[test]
fn without_the_claim_in_the_fence_an_effect_doubles() {
    let promise = broken(ONE_JOB, Mechanism::FenceComparesClaim);
    assert_eq!(promise, promise::ONCE);
}

#[test]
fn without_one_transaction_for_row_and_effect_an_effect_doubles() {
    let promise = broken(ONE_JOB, Mechanism::FinishIsOneTransaction);
    assert_eq!(promise, promise::ONCE);
}

#[test]
fn without_the_charge_at_the_claim_a_job_outlives_its_attempts() {
    let promise = broken(ONE_JOB, Mechanism::AttemptIsChargedAtClaim);
    assert_eq!(promise, promise::ATTEMPTS);
}

#[test]
fn without_a_doom_at_the_maximum_a_job_outlives_its_attempts() {
    let promise = broken(ONE_JOB, Mechanism::MaximumDooms);
    assert_eq!(promise, promise::ATTEMPTS);
}

#[test]
fn without_waiting_for_the_lease_a_rescue_robs_the_living() {
    let promise = broken(ONE_JOB, Mechanism::RescueWaitsForLease);
    assert_eq!(promise, promise::ONE_HAND);
}

#[test]
fn without_the_second_look_a_sweep_robs_its_own_worker() {
    let promise = broken(ONE_JOB, Mechanism::StraysAreSeenTwice);
    assert_eq!(promise, promise::ONE_HAND);
}

#[test]
fn when_an_answer_outlasts_two_sweeps_they_rob_its_worker() {
    let promise = broken(ONE_JOB, Mechanism::AnswersComeInTime);
    assert_eq!(promise, promise::ONE_HAND);
}

#[test]
fn without_sweeps_a_lost_answer_strands_its_job() {
    let promise = broken(TWO_LIVES, Mechanism::StraysAreSwept);
    assert_eq!(promise, ALL_ENDS);
}

/// The fence makes the second try safe. The look-up makes the report true.
#[test]
fn without_the_look_up_a_written_outcome_is_reported_as_refused() {
    let promise = broken(ONE_JOB, Mechanism::CommitsAreLookedUp);
    assert_eq!(promise, promise::REPORT);
}

#[test]
fn without_the_lock_of_a_lane_two_claims_exceed_its_cap() {
    let promise = broken(TWO_JOBS, Mechanism::LanesAreLocked);
    assert_eq!(promise, promise::CAP);
}

#[test]
fn without_one_transaction_for_a_burial_a_job_dies_unannounced() {
    let promise = broken(ONE_JOB, Mechanism::BurialIsOneTransaction);
    assert_eq!(promise, promise::OBITUARY);
}

#[test]
fn without_a_new_fence_a_checkpoint_is_recorded_twice() {
    let promise = broken(CHECKPOINTS, Mechanism::CheckpointsMoveTheFence);
    assert_eq!(promise, promise::ONCE);
}

#[test]
fn without_expecting_the_next_fence_a_sweep_robs_a_job_in_its_checkpoint() {
    let promise = broken(CHECKPOINTS, Mechanism::NextFenceIsExpected);
    assert_eq!(promise, promise::ONE_HAND);
}

#[test]
fn without_a_hand_before_the_commit_a_sweep_robs_a_follow_up_job() {
    let promise = broken(FOLLOW_UP, Mechanism::HandsAreReadyBeforeCommit);
    assert_eq!(promise, promise::ONE_HAND);
}

#[test]
fn without_awaiting_the_commit_a_job_runs_that_does_not_exist() {
    let promise = broken(FOLLOW_UP, Mechanism::HandOverAwaitsCommit);
    assert_eq!(promise, promise::NOT_LOST);
}

#[test]
fn without_its_charge_a_follow_up_job_outlives_its_attempts() {
    let promise = broken(FOLLOW_UP, Mechanism::EagerAttemptIsCharged);
    assert_eq!(promise, promise::ATTEMPTS);
}

#[test]
fn without_a_look_at_the_cap_a_new_job_exceeds_it() {
    let promise = broken(INSERTED, Mechanism::EagerMindsTheCap);
    assert_eq!(promise, promise::CAP);
}

#[test]
fn without_a_look_at_pauses_a_follow_up_job_of_a_paused_lane_is_taken() {
    let promise = broken(FOLLOW_UP, Mechanism::EagerMindsThePause);
    assert_eq!(promise, promise::PAUSE);
}
