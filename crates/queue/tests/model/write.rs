//! What the end of a run leads to: the finishing transaction, and what is known of it.

use super::{
    configuration::{Mechanism, Protocol},
    state::{Claim, Commit, Hand, Outcome, Row, Stage, State},
};

impl Protocol {
    pub(super) fn write(&self, next: &mut State, hand: Hand, commit: Commit) {
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

    /// The new state of the row of a job whose run in this attempt ended so.
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

    pub(super) fn look_up(&self, next: &mut State, hand: Hand, is_known: bool) {
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
            // If nobody can know the result any more, the report is not wrong.
            next.put(
                hand,
                Stage::Ended {
                    outcome,
                    was_written: false,
                },
            );
        }
    }
}
