//! The job queues, for operators: depth, pauses, caps, workers, and dead jobs.

mod change;
mod dead_jobs;
mod described;
mod names;
mod shapes;
mod state;

use super::document::Operation;

/// The operations, noun by noun.
pub(super) type Nouns = (state::Queues, dead_jobs::DeadJobs);

pub(super) fn nouns() -> Nouns {
    (state::Queues, dead_jobs::DeadJobs)
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    [described::described(), dead_jobs::described()].concat()
}
