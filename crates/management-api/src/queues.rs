//! The job queues, for operators: depth, pauses, caps, workers, and dead jobs.

mod change;
mod dead_jobs;
mod openapi;
mod operations;
mod parameters;
mod schemas;

use super::openapi::Operation;

/// The operations, noun by noun.
pub(super) type Nouns = (operations::Queues, dead_jobs::DeadJobs);

pub(super) fn nouns() -> Nouns {
    (operations::Queues, dead_jobs::DeadJobs)
}

/// What the document says beyond the signatures.
pub(super) fn descriptions() -> Vec<Operation> {
    [openapi::descriptions(), dead_jobs::descriptions()].concat()
}
