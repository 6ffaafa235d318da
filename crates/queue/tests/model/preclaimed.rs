//! The newer parts of the protocol: checkpoints, and jobs that the enqueuing process takes at once.

use super::{
    configuration::{Mechanism, Protocol},
    state::{Claim, Commit, Hand, Job, Row, Stage, State},
};

impl Protocol {
    /// The follow-up job: held and running, if the enqueuing worker may take it; otherwise due.
    pub(super) fn enqueue_more(
        &self,
        next: &mut State,
        by: Hand,
        commit: Commit,
        is_written: bool,
    ) {
        let Some(Claim { worker, .. }) = next.claim(by) else {
            return;
        };
        let is_eager = self.takes_at_once(next, worker);
        let is_early = is_eager && !self.has(Mechanism::HandOverAwaitsCommit);
        if !is_written && !is_early {
            return;
        }
        next.left.follow_ups = next.left.follow_ups.saturating_sub(1);
        let mut job = Job::new();
        if is_eager {
            next.was_disobeyed |= next.is_paused;
            self.claim(&mut job, worker);
            job.attempt = i8::from(self.has(Mechanism::EagerAttemptIsCharged));
            let stage = match commit {
                Commit::Lost { .. } if !is_early => Stage::Inserted { by },
                Commit::Answered | Commit::Lost { .. } => Stage::Held,
            };
            for claim in job.claims.iter_mut().flatten() {
                claim.stage = stage;
                claim.attempt = job.attempt;
            }
        }
        if !is_written {
            // The transaction was rolled back, but the job runs.
            job.row = Row::Finished;
        }
        next.jobs.push(job);
    }

    /// Whether a worker that enqueues a job may take it in the same statement.
    pub(super) fn takes_at_once(&self, state: &State, worker: usize) -> bool {
        let is_open = !state.is_paused || !self.has(Mechanism::EagerMindsThePause);
        let has_room = state.running() < self.cap || !self.has(Mechanism::EagerMindsTheCap);
        // Under a cap, due jobs go first.
        let is_first = state.jobs.iter().all(|job| job.row != Row::Due);
        is_open && has_room && is_first && state.workers[worker].has_lease
    }

    pub(super) fn record(&self, next: &mut State, hand: Hand, commit: Commit) {
        let is_ours = self.is_ours(next, hand);
        let is_written = is_ours && commit != Commit::Lost { written: false };
        let Some(claim) = next.claim(hand) else {
            return;
        };
        let job = &mut next.jobs[hand.job];
        if is_written {
            job.effects.push(claim.step);
            if self.has(Mechanism::CheckpointsMoveTheFence) {
                job.claims.push(None);
            }
        }
        match commit {
            Commit::Answered if is_written => self.go_on(next, hand),
            // The run gets the refusal, and stops.
            Commit::Answered => *next.claim_mut(hand) = None,
            Commit::Lost {
                written: was_written,
            } => next.put(hand, Stage::InDoubt { was_written }),
        }
    }

    /// The checkpoint is known to be written: the run goes on, under the next fence.
    pub(super) fn go_on(&self, next: &mut State, hand: Hand) {
        let fence = hand.fence + usize::from(self.has(Mechanism::CheckpointsMoveTheFence));
        let claim = next.claim_mut(hand).take().map(|claim| Claim {
            stage: Stage::Held,
            step: claim.step + 1,
            ..claim
        });
        *next.claim_mut(Hand { fence, ..hand }) = claim;
    }

    /// The jobs whose rows name this worker, although it does not hold them.
    pub(super) fn orphans(&self, state: &State, worker: usize) -> Vec<usize> {
        let is_held = |job: &Job| match job.last_claim().map(|claim| claim.stage) {
            Some(Stage::Inserted { .. }) => self.has(Mechanism::HandsAreReadyBeforeCommit),
            Some(Stage::Claimed) | None => {
                job.may_be_checkpoint_of(worker) && self.has(Mechanism::NextFenceIsExpected)
            }
            Some(_) => true,
        };
        let is_stray = |job: &Job| job.row == Row::Running(worker) && !is_held(job);
        let jobs = state.jobs.iter().enumerate();
        jobs.filter(|(_, job)| is_stray(job))
            .map(|(id, _)| id)
            .collect()
    }
}
