//! Items that take the fast path: one job analyses them, judges them and sends their acceptance. Real
//! Postgres, real workers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod created_event;
mod fixture;
mod pauses_and_caps;
mod same_result;
