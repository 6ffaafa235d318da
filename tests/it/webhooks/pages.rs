//! Pages: jobs that send many deliveries to one endpoint. An endpoint notices only their speed.

mod failures;
mod killed;
mod order;
mod setup;

use crate::support::SOON;

/// The most requests to one endpoint at the same time, over all jobs.
const CAP: usize = 32;

/// Too few jobs at once to split a page because slots are free.
const BUSY: (&str, &str) = ("GATEHOUSE_CONCURRENCY", "2");
