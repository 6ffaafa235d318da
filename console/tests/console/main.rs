//! The console as a browser sees it, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod browser;
mod door;
mod first;
mod overview;
mod protection;
mod sites;
mod usage;
