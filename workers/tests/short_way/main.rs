//! Items that go the short way: one job analyses them, judges them and sends their acceptance. Real
//! Postgres, real workers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod fixture;
mod same;
mod told;
mod ways;
