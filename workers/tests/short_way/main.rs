//! Items that go the short way: one job analyses them, judges them and tells of their acceptance. Real Postgres, real workers.

mod fixture;
mod same;
mod told;
mod ways;
