//! What the queue promises, checked in every state.

use super::{
    configuration::Protocol,
    state::{Claim, Job, Row, Stage, State},
};

pub(crate) const ONCE: &str = "no effect is applied twice";
pub(crate) const NOT_LOST: &str = "a job whose row is gone has had its effect";
pub(crate) const ATTEMPTS: &str = "no job has more charged runs than attempts";
pub(crate) const ONE_HAND: &str = "a worker that kept its lease has the jobs that it runs";
pub(crate) const CAP: &str = "no lane has more jobs running than its cap";
pub(crate) const PAUSE: &str = "nothing of a paused lane is taken";
pub(crate) const ON_DEAD: &str =
    "a job is dead if and only if the effect of its death is applied once";
pub(crate) const REPORT: &str = "what was written is not reported as refused";

impl Protocol {
    pub(crate) fn broken_promise(&self, state: &State) -> Option<&'static str> {
        if state.running() > self.cap {
            return Some(CAP);
        }
        if state.was_disobeyed {
            return Some(PAUSE);
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
            Some(ONCE)
        } else if job.row == Row::Finished && job.effects.is_empty() {
            Some(NOT_LOST)
        } else if job.charged > self.max_attempts || job.attempt < 0 {
            Some(ATTEMPTS)
        } else if (1..).zip(&job.claims).any(is_lost) {
            Some(ONE_HAND)
        } else if job.obituaries != u8::from(is_dead) {
            Some(ON_DEAD)
        } else if job.is_misreported {
            Some(REPORT)
        } else {
            None
        }
    }
}
