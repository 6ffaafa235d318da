//! The job queues, for operators: depth, pauses, caps, workers, and dead jobs.

mod change;
mod dead_jobs;
mod descriptions;
mod parameters;
mod schemas;
mod operations;

use super::openapi::Operation;

/// The operations, noun by noun.
pub(super) type Nouns = (operations::Queues, dead_jobs::DeadJobs);

pub(super) fn nouns() -> Nouns {
    (operations::Queues, dead_jobs::DeadJobs)
}

/// What the document says beyond the signatures.
pub(super) fn described() -> Vec<Operation> {
    [descriptions::descriptions(), dead_jobs::descriptions()].concat()
}
