//! The console as a browser sees it, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod browser;
mod dead_jobs;
mod door;
mod first;
mod protection;
mod providers;
mod queues;
mod sites;
mod usage;
