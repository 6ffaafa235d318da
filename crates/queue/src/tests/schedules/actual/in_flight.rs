//! Jobs in flight: how they are claimed, go on and are handed over.

use std::time::Instant;

use tokio_util::task::TaskTracker;

use super::{Actual, InHand, Inserted};
use crate::{
    NewJobs,
    checkpoint::reach,
    effect::AnyEffect,
    in_flight::InFlightJob,
    outcome::{Ended, Outcome as Actually},
    preclaimed::{Enqueued, insert},
    tests::schedules::{
        observed::number,
        state::{Hand, Stage, State},
        work::{Applied, new_job},
    },
};

impl Actual {
    /// Enqueues a job from outside of a run, and takes it if it may.
    pub(super) async fn insert(&mut self, worker: usize) {
        self.promote().await;
        let jobs = NewJobs::from(new_job(self.max_attempts));
        let reservation = self.processes[worker].queue.reserve(&jobs);
        let (places, ids) = insert(&mut *self.conn().await, &reservation, &jobs)
            .await
            .unwrap();
        self.find_new_jobs().await;
        if ids == [None] {
            return;
        }
        let hand = Hand {
            job: self.jobs.len() - 1,
            fence: 1,
        };
        let inserted = Inserted {
            reservation,
            jobs,
            places,
            ids,
        };
        self.hands
            .insert(hand, InHand::Inserted(Box::new(inserted)));
    }

    pub(super) fn arrive(&mut self, state: &State, hand: Hand) {
        match self.hands.remove(&hand) {
            Some(InHand::Answered(claim)) => {
                let in_flight_jobs = &self.process(state, hand).queue.shared().in_flight_jobs;
                let in_flight = InFlightJob::new(
                    claim,
                    Instant::now(),
                    in_flight_jobs,
                    TaskTracker::new().token(),
                )
                .expect("a claim comes once");
                self.hands.insert(hand, InHand::Held(in_flight));
            }
            Some(InHand::Inserted(inserted)) => {
                let Inserted {
                    reservation,
                    jobs,
                    places,
                    ids,
                } = *inserted;
                reservation.committed(&jobs, &places, &ids);
                self.receive(state, hand);
            }
            _ => unreachable!("it was claimed"),
        }
    }

    /// A run reaches a checkpoint.
    pub(super) async fn reach(&mut self, state: &State, hand: Hand) {
        let Some(InHand::Held(in_flight)) = self.hands.remove(&hand) else {
            unreachable!("it is held");
        };
        let effect = AnyEffect::new(Applied {
            step: number(state.claim(hand).unwrap().step),
            follow_up: None,
        });
        let (reached, _) = reach(in_flight, effect).await.expect("its run goes on");
        self.hands.insert(hand, InHand::Ended(reached));
    }

    /// The process learns whether a commit was made.
    pub(super) fn look_up(&mut self, state: &State, hand: Hand) {
        match state.claim(hand).map(|claim| claim.stage) {
            Some(Stage::InDoubt { was_written: true }) => self.answer(hand, true),
            Some(Stage::Unanswered {
                was_written: true, ..
            }) => {
                if let Some(follow_ups) = self.unanswered.remove(&hand) {
                    self.hand_over(state, hand, follow_ups);
                }
            }
            _ => {}
        }
    }

    /// A checkpoint is answered.
    pub(super) fn answer(&mut self, hand: Hand, survives: bool) {
        let Some(InHand::Ended(Ended {
            in_flight,
            outcome: Actually::Checkpoint { answer, .. },
        })) = self.hands.remove(&hand)
        else {
            unreachable!("it is at a checkpoint");
        };
        if survives {
            answer.recorded();
            let fence = hand.fence + 1;
            self.hands
                .insert(Hand { fence, ..hand }, InHand::Held(in_flight));
        } else {
            answer.refused();
        }
    }

    /// The commit that enqueued these jobs is answered.
    pub(super) fn hand_over(&mut self, state: &State, by: Hand, follow_ups: Enqueued) {
        let shared = self.process(state, by).queue.shared().clone();
        follow_ups.committed(&shared);
        self.receive(state, by);
    }

    /// Tracks what a worker was handed.
    fn receive(&mut self, state: &State, by: Hand) {
        for in_flight in self.process(state, by).hands.take() {
            let job = self.jobs.iter().position(|&id| id == in_flight.run.job);
            let job = job.expect("it was found before");
            self.hands
                .insert(Hand { job, fence: 1 }, InHand::Held(in_flight));
        }
    }
}
