//! A small service around the queue.

mod jobs;
mod process;
mod tables;

pub(crate) use jobs::{Act, End, MORE, Mark, UNTIL_LET_GO, WORK, act, job, lane, mark};
pub(crate) use process::{NEVER, Process, quick, settings};
pub(crate) use tables::{PATIENCE, count, enqueue, names, prepare, until, until_idle};
