//! The protocol of claim, lease, rescue, finish and burial as a state machine: the specification of the queue.
//!
//! A state is what the tables hold and what the processes have in hand; an action is one SQL statement, or
//! one thing that happens to a process or to an answer. Time is left out: a lease ends, or a delay passes,
//! whenever it likes. Batches are left out, too: what a transaction does to many jobs it does to each.
//! A job that is enqueued later is a job that is claimed later, so all jobs are there from the start.
//!
//! Whatever could go on for ever is counted: faults, runs that cost no attempt, and replays.

use super::state::{
    Action, Claim, Commit, Hand, Job, Mechanism, Outcome, Protocol, Row, Stage, State, Worker,
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

/// What can happen next.
impl Protocol {
    pub(crate) fn actions(&self, state: &State) -> Vec<Action> {
        let mut actions = Vec::new();
        if state.is_paused {
            actions.push(Action::Resume);
        } else if state.left.pauses > 0 {
            actions.push(Action::Pause);
        }
        for worker in 0..state.workers.len() {
            Self::of_process(state, worker, &mut actions);
            self.of_worker(state, worker, &mut actions);
        }
        for (id, job) in state.jobs.iter().enumerate() {
            self.of_row(state, id, &mut actions);
            for (fence, claim) in (1..).zip(&job.claims) {
                if let Some(claim) = claim {
                    self.of_claim(state, Hand { job: id, fence }, claim, &mut actions);
                }
            }
        }
        actions
    }

    fn of_process(state: &State, worker: usize, actions: &mut Vec<Action>) {
        let Worker {
            is_alive,
            has_lease,
            ..
        } = state.workers[worker];
        let may_fail = state.left.faults > 0;
        // A process that has no job may come and go unnoticed.
        if state.has_to_do_with(worker) {
            if has_lease && (may_fail || !is_alive) {
                actions.push(Action::LeaseEnds { worker });
            }
            if is_alive && may_fail {
                actions.push(Action::Crash { worker });
            }
        }
        if is_alive && !has_lease {
            actions.push(Action::Heartbeat { worker });
        }
    }

    fn of_worker(&self, state: &State, worker: usize, actions: &mut Vec<Action>) {
        let Worker {
            is_alive,
            has_lease,
            counted,
        } = state.workers[worker];
        if !is_alive {
            return;
        }
        let strays = self.strays(state, worker);
        let is_under_way = |job: &Job| {
            job.last_claim()
                .is_some_and(|claim| claim.stage == Stage::Claimed)
        };
        let is_too_soon = self.has(Mechanism::AnswersComeInTime)
            && strays.iter().any(|&id| {
                let job = &state.jobs[id];
                job.is_suspect && is_under_way(job)
            });
        if self.has(Mechanism::StraysAreSwept) && !strays.is_empty() && !is_too_soon {
            actions.push(Action::Sweep { worker });
        }
        if state.left.inserts > 0 {
            actions.push(Action::Insert { worker });
        }
        if !has_lease || state.is_paused {
            return;
        }
        let running = if self.has(Mechanism::LanesAreLocked) {
            Some(state.running())
        } else {
            counted
        };
        let due = (0..state.jobs.len()).filter(|&job| state.jobs[job].row == Row::Due);
        match running {
            None => actions.push(Action::Count { worker }),
            Some(running) if running < self.cap => {
                actions.extend(due.map(|job| Action::Claim { worker, job }));
            }
            Some(_) => {}
        }
    }

    fn of_row(&self, state: &State, job: usize, actions: &mut Vec<Action>) {
        match state.jobs[job].row {
            Row::Running(worker) => {
                if !state.workers[worker].has_lease || !self.has(Mechanism::RescueWaitsForLease) {
                    actions.push(Action::Rescue { job });
                }
            }
            Row::Scheduled => actions.push(Action::DelayPasses { job }),
            Row::Doomed => {
                actions.push(Action::Bury { job });
                if state.left.faults > 0 {
                    actions.push(Action::ObituaryFails { job });
                }
            }
            Row::Buried if state.left.replays > 0 => actions.push(Action::Replay { job }),
            Row::Due | Row::Buried | Row::Replayed | Row::Finished => {}
        }
    }

    fn of_claim(&self, state: &State, hand: Hand, claim: &Claim, actions: &mut Vec<Action>) {
        let may_fail = state.left.faults > 0;
        match claim.stage {
            Stage::Claimed => {
                actions.push(Action::Arrive(hand));
                if may_fail {
                    actions.push(Action::LoseAnswer(hand));
                }
            }
            Stage::Held => {
                let outcomes = Outcome::ALL.into_iter();
                let outcomes = outcomes.filter(|end| end.is_charged() || state.left.uncharged > 0);
                let outcomes = outcomes
                    .filter(|&end| end != Outcome::DoneWithMore || state.left.follow_ups > 0);
                actions.extend(outcomes.map(|outcome| Action::End(hand, outcome)));
                if state.left.checkpoints > 0 {
                    actions.push(Action::Checkpoint(hand));
                }
            }
            Stage::Reached => {
                actions.push(Action::Record(hand, Commit::Answered));
                if may_fail && self.is_ours(state, hand) {
                    for written in [true, false] {
                        actions.push(Action::Record(hand, Commit::Lost { written }));
                    }
                }
            }
            // Goes with the commit that it waits for.
            Stage::Inserted { .. } => {}
            Stage::Ended { .. } => {
                actions.push(Action::Write(hand, Commit::Answered));
                // When there is nothing to write, a lost answer is no more than another try.
                if may_fail && self.is_ours(state, hand) {
                    for written in [true, false] {
                        actions.push(Action::Write(hand, Commit::Lost { written }));
                    }
                }
            }
            Stage::Unanswered { .. } | Stage::InDoubt { .. } => {
                actions.push(Action::LookUp(hand));
                if may_fail {
                    actions.push(Action::LookUpInVain(hand));
                }
            }
        }
    }
}

/// What it leads to.
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
            Action::Bury { job } => {
                next.jobs[job].row = Row::Buried;
                next.jobs[job].obituaries += 1;
            }
            Action::ObituaryFails { job } => {
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

    /// The fence: whether the row still is what this claim made of it.
    pub(crate) fn is_ours(&self, state: &State, hand: Hand) -> bool {
        let job = &state.jobs[hand.job];
        let worker = state.claim(hand).map(|claim| claim.worker);
        let is_claim = hand.fence == job.claims.len();
        let is_worker = worker.is_some_and(|worker| job.row == Row::Running(worker));
        job.row.is_in_jobs()
            && (is_claim || !self.has(Mechanism::FenceComparesClaim))
            && (is_worker || !self.has(Mechanism::FenceComparesWorker))
    }

    fn write(&self, next: &mut State, hand: Hand, commit: Commit) {
        let is_ours = self.is_ours(next, hand);
        let is_written = is_ours && commit != Commit::Lost { written: false };
        let Some(Claim {
            stage:
                Stage::Ended {
                    outcome,
                    was_written,
                },
            attempt,
            step,
            ..
        }) = next.claim(hand)
        else {
            return;
        };
        let job = &mut next.jobs[hand.job];
        if outcome.has_effect()
            && (is_written || is_ours && !self.has(Mechanism::FinishIsOneTransaction))
        {
            job.effects.push(step);
        }
        if is_written {
            job.row = self.verdict(outcome, attempt);
            if outcome.is_charged() {
                job.attempt += i8::from(!self.has(Mechanism::AttemptIsChargedAtClaim));
            } else {
                self.refund(job);
            }
        }
        if outcome == Outcome::DoneWithMore {
            self.enqueue_more(next, hand, commit, is_written);
        }
        match commit {
            Commit::Answered => {
                next.jobs[hand.job].is_misreported |= was_written && !is_ours;
                *next.claim_mut(hand) = None;
            }
            Commit::Lost {
                written: was_written,
            } => {
                next.put(
                    hand,
                    Stage::Unanswered {
                        outcome,
                        was_written,
                    },
                );
            }
        }
    }

    /// What becomes of the row of a job whose run in this attempt ended so.
    fn verdict(&self, outcome: Outcome, attempt: i8) -> Row {
        match outcome {
            Outcome::Done | Outcome::DoneWithMore => Row::Finished,
            Outcome::Abort => Row::Doomed,
            Outcome::Again { charged: true } | Outcome::Fail => {
                if self.is_spent(attempt) {
                    Row::Doomed
                } else {
                    Row::Scheduled
                }
            }
            Outcome::Again { charged: false } | Outcome::Release => Row::Due,
        }
    }

    fn is_spent(&self, attempt: i8) -> bool {
        attempt >= self.max_attempts && self.has(Mechanism::MaximumDooms)
    }

    fn refund(&self, job: &mut Job) {
        job.attempt -= i8::from(self.has(Mechanism::AttemptIsChargedAtClaim));
        job.charged -= 1;
    }

    fn look_up(&self, next: &mut State, hand: Hand, is_known: bool) {
        if let Some(Claim {
            stage: Stage::InDoubt { was_written },
            ..
        }) = next.claim(hand)
        {
            if is_known && was_written {
                self.go_on(next, hand);
            } else {
                next.put(hand, Stage::Reached);
            }
            return;
        }
        let Some(Claim {
            stage:
                Stage::Unanswered {
                    outcome,
                    was_written,
                },
            ..
        }) = next.claim(hand)
        else {
            return;
        };
        if !self.has(Mechanism::CommitsAreLookedUp) {
            next.put(
                hand,
                Stage::Ended {
                    outcome,
                    was_written,
                },
            );
        } else if is_known && was_written {
            *next.claim_mut(hand) = None;
            for claim in next.inserted_by(hand).flatten() {
                claim.stage = Stage::Held;
            }
        } else {
            next.inserted_by(hand).for_each(|claim| *claim = None);
            // What nobody can know any more is not held against the report.
            next.put(
                hand,
                Stage::Ended {
                    outcome,
                    was_written: false,
                },
            );
        }
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
        let strays = self.strays(next, worker);
        for (id, job) in next.jobs.iter_mut().enumerate() {
            if job.row != Row::Running(worker) {
                continue;
            }
            if !strays.contains(&id) {
                job.is_suspect = false;
            } else if job.is_suspect || !self.has(Mechanism::StraysAreSeenTwice) {
                job.is_suspect = false;
                job.row = Row::Due;
                self.refund(job);
            } else {
                job.is_suspect = true;
            }
        }
    }
}

/// What the queue promises, checked in every state.
impl Protocol {
    pub(crate) fn broken_promise(&self, state: &State) -> Option<&'static str> {
        if state.running() > self.cap {
            return Some(promise::CAP);
        }
        if state.was_disobeyed {
            return Some(promise::PAUSE);
        }
        state.jobs.iter().find_map(|job| self.broken_by(job))
    }

    fn broken_by(&self, job: &Job) -> Option<&'static str> {
        let is_dead = matches!(job.row, Row::Buried | Row::Replayed);
        // Each run starts from what the effects before it have left.
        let is_in_order = job.effects.iter().copied().eq(0..job.effects.len());
        let is_lost = |(fence, claim): (usize, &Option<Claim>)| {
            claim.is_some_and(|claim| {
                claim.stage == Stage::Held
                    && claim.is_covered
                    && (job.row, job.claims.len()) != (Row::Running(claim.worker), fence)
            })
        };
        if !is_in_order {
            Some(promise::ONCE)
        } else if job.row == Row::Finished && job.effects.is_empty() {
            Some(promise::NOT_LOST)
        } else if job.charged > self.max_attempts || job.attempt < 0 {
            Some(promise::ATTEMPTS)
        } else if (1..).zip(&job.claims).any(is_lost) {
            Some(promise::ONE_HAND)
        } else if job.obituaries != u8::from(is_dead) {
            Some(promise::OBITUARY)
        } else if job.is_misreported {
            Some(promise::REPORT)
        } else {
            None
        }
    }
}

/// The promises in words.
pub(crate) mod promise {
    pub(crate) const ONCE: &str = "no effect is applied twice";
    pub(crate) const NOT_LOST: &str = "a job whose row is gone has had its effect";
    pub(crate) const ATTEMPTS: &str = "no job has more charged runs than attempts";
    pub(crate) const ONE_HAND: &str = "a worker that kept its lease has the jobs that it runs";
    pub(crate) const CAP: &str = "no lane has more jobs running than its cap";
    pub(crate) const PAUSE: &str = "nothing of a paused lane is taken";
    pub(crate) const OBITUARY: &str = "a job is dead if and only if it had one obituary";
    pub(crate) const REPORT: &str = "what was written is not reported as refused";
}
