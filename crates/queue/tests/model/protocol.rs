//! The protocol of claim, lease, rescue, finish and death as a state machine: the specification of
//! the queue.
//!
//! A state is what the tables and the processes hold. An action is one SQL statement, or one thing
//! that happens to a process or to an answer. The model has no time: a lease ends, or a delay
//! passes, at any moment. It has no batches either: a transaction does the same to each of its
//! jobs. A job that is enqueued later behaves like a job that is claimed later, so all jobs exist
//! from the start.
//!
//! Everything that could go on for ever is limited: faults, runs that cost no attempt, and replays.

use super::{
    action::Action,
    configuration::{Mechanism, Protocol},
    state::{Claim, Hand, Job, Row, Stage, State, Worker},
};

impl Protocol {
    pub(crate) fn start(&self) -> State {
        State {
            jobs: vec![Job::new(); self.jobs],
            workers: vec![Worker::new(); self.workers],
            is_paused: false,
            was_disobeyed: false,
            left: self.limits,
        }
    }

    pub(super) fn has(&self, mechanism: Mechanism) -> bool {
        self.without != Some(mechanism)
    }
}

/// The state after an action.
impl Protocol {
    pub(crate) fn after(&self, state: &State, action: Action) -> State {
        let mut next = state.clone();
        if action.is_fault(state) {
            next.left.faults -= 1;
        }
        match action {
            Action::Heartbeat { worker } => next.workers[worker].has_lease = true,
            Action::LeaseEnds { worker } => {
                next.workers[worker].has_lease = false;
                for claim in next.claims_of(worker).flatten() {
                    claim.is_covered = false;
                }
            }
            Action::Crash { worker } => {
                next.workers[worker].is_alive = false;
                next.claims_of(worker).for_each(|claim| *claim = None);
                next.workers.push(Worker::new());
            }
            Action::Count { worker } => next.workers[worker].counted = Some(state.running()),
            Action::Claim { worker, job } => {
                next.workers[worker].counted = None;
                self.claim(&mut next.jobs[job], worker);
            }
            Action::Insert { worker } => {
                next.left.inserts -= 1;
                let mut job = Job::new();
                if self.takes_at_once(state, worker) {
                    next.was_disobeyed |= state.is_paused;
                    self.claim(&mut job, worker);
                }
                next.jobs.push(job);
            }
            Action::Arrive(hand) => {
                next.put(hand, Stage::Held);
                let job = &mut next.jobs[hand.job];
                job.is_suspect &= hand.fence != job.claims.len();
            }
            Action::LoseAnswer(hand) => *next.claim_mut(hand) = None,
            Action::End(hand, outcome) => {
                next.left.uncharged -= u8::from(!outcome.is_charged());
                next.put(
                    hand,
                    Stage::Ended {
                        outcome,
                        was_written: false,
                    },
                );
            }
            Action::Checkpoint(hand) => {
                next.left.checkpoints -= 1;
                next.put(hand, Stage::Reached);
            }
            Action::Record(hand, commit) => self.record(&mut next, hand, commit),
            Action::Write(hand, commit) => self.write(&mut next, hand, commit),
            Action::LookUp(hand) => self.look_up(&mut next, hand, true),
            Action::LookUpInVain(hand) => self.look_up(&mut next, hand, false),
            Action::Pause => {
                next.left.pauses -= 1;
                next.is_paused = true;
            }
            Action::Resume => next.is_paused = false,
            Action::Rescue { job } => self.rescue(&mut next.jobs[job]),
            Action::Sweep { worker } => self.sweep(&mut next, worker),
            Action::DelayPasses { job } => next.jobs[job].row = Row::Due,
            Action::MoveDoomed { job } => {
                next.jobs[job].row = Row::Buried;
                next.jobs[job].obituaries += 1;
            }
            Action::OnDeadFails { job } => {
                if !self.has(Mechanism::BurialIsOneTransaction) {
                    next.jobs[job].row = Row::Buried;
                }
            }
            Action::Replay { job } => {
                next.left.replays -= 1;
                next.jobs[job].row = Row::Replayed;
                next.jobs.push(Job::new());
            }
        }
        next
    }

    pub(super) fn claim(&self, job: &mut Job, worker: usize) {
        job.row = Row::Running(worker);
        job.attempt += i8::from(self.has(Mechanism::AttemptIsChargedAtClaim));
        job.charged += 1;
        job.is_suspect = false;
        job.claims.push(Some(Claim {
            worker,
            stage: Stage::Claimed,
            attempt: job.attempt,
            step: job.effects.len(),
            is_covered: true,
        }));
    }

    /// The fence: whether the row is still as this claim left it.
    pub(crate) fn is_ours(&self, state: &State, hand: Hand) -> bool {
        let job = &state.jobs[hand.job];
        let worker = state.claim(hand).map(|claim| claim.worker);
        let is_claim = hand.fence == job.claims.len();
        let is_worker = worker.is_some_and(|worker| job.row == Row::Running(worker));
        job.row.is_in_jobs()
            && (is_claim || !self.has(Mechanism::FenceComparesClaim))
            && (is_worker || !self.has(Mechanism::FenceComparesWorker))
    }

    pub(super) fn is_spent(&self, attempt: i8) -> bool {
        attempt >= self.max_attempts && self.has(Mechanism::MaximumDooms)
    }

    pub(super) fn refund(&self, job: &mut Job) {
        job.attempt -= i8::from(self.has(Mechanism::AttemptIsChargedAtClaim));
        job.charged -= 1;
    }

    fn rescue(&self, job: &mut Job) {
        job.is_suspect = false;
        job.row = if self.is_spent(job.attempt) {
            Row::Doomed
        } else if job.attempt <= 1 {
            Row::Due
        } else {
            Row::Scheduled
        };
    }

    fn sweep(&self, next: &mut State, worker: usize) {
        let orphans = self.orphans(next, worker);
        for (id, job) in next.jobs.iter_mut().enumerate() {
            if job.row != Row::Running(worker) {
                continue;
            }
            if !orphans.contains(&id) {
                job.is_suspect = false;
            } else if job.is_suspect || !self.has(Mechanism::OrphansAreSeenTwice) {
                job.is_suspect = false;
                job.row = Row::Due;
                self.refund(job);
            } else {
                job.is_suspect = true;
            }
        }
    }
}
