//! What can happen next in a state.

use super::{
    action::Action,
    configuration::{Mechanism, Protocol},
    state::{Claim, Commit, Hand, Job, Outcome, Row, Stage, State, Worker},
};

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
        // A process without jobs may come and go unnoticed.
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
        let orphans = self.orphans(state, worker);
        let is_under_way = |job: &Job| {
            job.last_claim()
                .is_some_and(|claim| claim.stage == Stage::Claimed)
        };
        let is_too_soon = self.has(Mechanism::AnswersComeInTime)
            && orphans.iter().any(|&id| {
                let job = &state.jobs[id];
                job.is_suspect && is_under_way(job)
            });
        if self.has(Mechanism::OrphansAreSwept) && !orphans.is_empty() && !is_too_soon {
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
                actions.push(Action::MoveDoomed { job });
                if state.left.faults > 0 {
                    actions.push(Action::OnDeadFails { job });
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
            // Continues together with the commit that it waits for.
            Stage::Inserted { .. } => {}
            Stage::Ended { .. } => {
                actions.push(Action::Write(hand, Commit::Answered));
                // If there is nothing to write, a lost answer only means another try.
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
