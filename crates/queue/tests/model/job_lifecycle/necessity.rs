//! Each mechanism is needed: without it, some schedule breaks a promise.

use super::*;

#[test]
fn without_the_worker_in_the_fence_an_effect_doubles() {
    let promise = broken(ONE_JOB, Mechanism::FenceComparesWorker);
    assert_eq!(promise, invariants::ONCE);
}

#[test]
fn without_the_claim_in_the_fence_an_effect_doubles() {
    let promise = broken(ONE_JOB, Mechanism::FenceComparesClaim);
    assert_eq!(promise, invariants::ONCE);
}

#[test]
fn without_one_transaction_for_row_and_effect_an_effect_doubles() {
    let promise = broken(ONE_JOB, Mechanism::FinishIsOneTransaction);
    assert_eq!(promise, invariants::ONCE);
}

#[test]
fn without_the_charge_at_the_claim_a_job_outlives_its_attempts() {
    let promise = broken(ONE_JOB, Mechanism::AttemptIsChargedAtClaim);
    assert_eq!(promise, invariants::ATTEMPTS);
}

#[test]
fn without_a_doom_at_the_maximum_a_job_outlives_its_attempts() {
    let promise = broken(ONE_JOB, Mechanism::MaximumDooms);
    assert_eq!(promise, invariants::ATTEMPTS);
}

#[test]
fn without_waiting_for_the_lease_a_rescue_robs_the_living() {
    let promise = broken(ONE_JOB, Mechanism::RescueWaitsForLease);
    assert_eq!(promise, invariants::ONE_HAND);
}

#[test]
fn without_the_second_look_a_sweep_robs_its_own_worker() {
    let promise = broken(ONE_JOB, Mechanism::OrphansAreSeenTwice);
    assert_eq!(promise, invariants::ONE_HAND);
}

#[test]
fn when_an_answer_outlasts_two_sweeps_they_rob_its_worker() {
    let promise = broken(ONE_JOB, Mechanism::AnswersComeInTime);
    assert_eq!(promise, invariants::ONE_HAND);
}

#[test]
fn without_sweeps_a_lost_answer_strands_its_job() {
    let promise = broken(TWO_LIVES, Mechanism::OrphansAreSwept);
    assert_eq!(promise, ALL_ENDS);
}

/// The fence makes the second try safe. The look-up makes the report true.
#[test]
fn without_the_look_up_a_written_outcome_is_reported_as_refused() {
    let promise = broken(ONE_JOB, Mechanism::CommitsAreLookedUp);
    assert_eq!(promise, invariants::REPORT);
}

#[test]
fn without_the_lock_of_a_lane_two_claims_exceed_its_cap() {
    let promise = broken(TWO_JOBS, Mechanism::LanesAreLocked);
    assert_eq!(promise, invariants::CAP);
}

#[test]
fn without_one_transaction_for_a_death_a_job_dies_unannounced() {
    let promise = broken(ONE_JOB, Mechanism::BurialIsOneTransaction);
    assert_eq!(promise, invariants::ON_DEAD);
}

#[test]
fn without_a_new_fence_a_checkpoint_is_recorded_twice() {
    let promise = broken(CHECKPOINTS, Mechanism::CheckpointsMoveTheFence);
    assert_eq!(promise, invariants::ONCE);
}

#[test]
fn without_expecting_the_next_fence_a_sweep_robs_a_job_in_its_checkpoint() {
    let promise = broken(CHECKPOINTS, Mechanism::NextFenceIsExpected);
    assert_eq!(promise, invariants::ONE_HAND);
}

#[test]
fn without_a_hand_before_the_commit_a_sweep_robs_a_follow_up_job() {
    let promise = broken(FOLLOW_UP, Mechanism::HandsAreReadyBeforeCommit);
    assert_eq!(promise, invariants::ONE_HAND);
}

#[test]
fn without_awaiting_the_commit_a_job_runs_that_does_not_exist() {
    let promise = broken(FOLLOW_UP, Mechanism::HandOverAwaitsCommit);
    assert_eq!(promise, invariants::NOT_LOST);
}

#[test]
fn without_its_charge_a_follow_up_job_outlives_its_attempts() {
    let promise = broken(FOLLOW_UP, Mechanism::EagerAttemptIsCharged);
    assert_eq!(promise, invariants::ATTEMPTS);
}

#[test]
fn without_a_look_at_the_cap_a_new_job_exceeds_it() {
    let promise = broken(INSERTED, Mechanism::EagerMindsTheCap);
    assert_eq!(promise, invariants::CAP);
}

#[test]
fn without_a_look_at_pauses_a_follow_up_job_of_a_paused_lane_is_taken() {
    let promise = broken(FOLLOW_UP, Mechanism::EagerMindsThePause);
    assert_eq!(promise, invariants::PAUSE);
}
