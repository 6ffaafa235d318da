//! Does in the database what the model does.

use super::{Actual, InHand};
use crate::{
    dead_jobs, lanes, orphans,
    outcome::Ended,
    tests::schedules::{
        action::Action,
        configuration::Protocol,
        observed::number,
        process::Process,
        state::{Commit, Hand, State},
        work::{LANE, QUEUE, actually},
    },
};

impl Actual {
    /// Does what the model does in this state.
    pub(crate) async fn act(
        &mut self,
        protocol: Protocol,
        state: &State,
        action: Action,
    ) -> Result<(), String> {
        match action {
            Action::Heartbeat { worker } => self.start(worker).await,
            Action::LeaseEnds { worker } => {
                self.end_lease(worker, state.workers[worker].is_alive).await;
            }
            Action::Crash { worker } => {
                let lives = |hand: Hand| {
                    state
                        .claim(hand)
                        .is_some_and(|claim| claim.worker != worker)
                };
                self.hands.retain(|&hand, _| lives(hand));
                self.unanswered.retain(|&hand, _| lives(hand));
                self.start(state.workers.len()).await;
            }
            Action::Insert { worker } => self.insert(worker).await,
            Action::Arrive(hand) => self.arrive(state, hand),
            Action::LoseAnswer(hand) => drop(self.hands.remove(&hand)),
            Action::End(hand, outcome) => {
                let Some(InHand::Held(in_flight)) = self.hands.remove(&hand) else {
                    unreachable!("it is held");
                };
                let step = state.claim(hand).unwrap().step;
                let outcome = actually(outcome, number(step), self.max_attempts);
                self.hands
                    .insert(hand, InHand::Ended(Ended { in_flight, outcome }));
            }
            Action::Checkpoint(hand) => self.reach(state, hand).await,
            // A rollback leaves nothing.
            Action::Write(_, Commit::Lost { written: false })
            | Action::Record(_, Commit::Lost { written: false }) => {}
            Action::Write(hand, commit) => {
                self.promote().await;
                let (_, follow_ups) = self.write(protocol, state, hand).await?;
                self.find_new_jobs().await;
                if commit == Commit::Answered {
                    self.hands.remove(&hand);
                    self.hand_over(state, hand, follow_ups);
                } else {
                    self.unanswered.insert(hand, follow_ups);
                }
            }
            Action::Record(hand, commit) => {
                let (survives, _) = self.write(protocol, state, hand).await?;
                if commit == Commit::Answered {
                    self.answer(hand, survives);
                }
            }
            Action::LookUp(hand) => self.look_up(state, hand),
            Action::LookUpInVain(hand) => drop(self.unanswered.remove(&hand)),
            Action::Pause => {
                lanes::pause(&mut *self.conn().await, QUEUE, LANE, None)
                    .await
                    .unwrap();
            }
            Action::Resume => {
                lanes::resume(&mut *self.conn().await, QUEUE, LANE)
                    .await
                    .unwrap();
            }
            Action::Sweep { worker } => {
                let Process {
                    queue, suspects, ..
                } = &mut self.processes[worker];
                orphans::sweep(queue.shared(), suspects).await.unwrap();
            }
            Action::DelayPasses { job } => {
                sqlx::query("update queue.jobs set run_at = now() where id = $1")
                    .bind(self.jobs[job])
                    .execute(&self.pool)
                    .await
                    .unwrap();
            }
            Action::OnDeadFails { .. } => self.fail_to_move_doomed().await,
            Action::Replay { job } => {
                let ids = [self.jobs[job]];
                let filter = dead_jobs::Filter {
                    ids: Some(&ids),
                    ..dead_jobs::Filter::default()
                };
                let mut conn = self.conn().await;
                let mut replay = dead_jobs::Replay::begin(&mut conn, filter).await.unwrap();
                replay.next(&mut conn, 1).await.unwrap();
                drop(conn);
                self.find_new_jobs().await;
            }
            Action::Count { .. }
            | Action::Claim { .. }
            | Action::Rescue { .. }
            | Action::MoveDoomed { .. } => {
                unreachable!("a step of its own")
            }
        }
        Ok(())
    }
}
