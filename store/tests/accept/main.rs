//! Accepting submissions on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixture;
mod images;
mod poisoned;
mod quota;
mod repetition;
mod storing;
