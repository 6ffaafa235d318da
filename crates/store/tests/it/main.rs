//! The store on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accept;
mod audit;
mod billing_period;
mod categories;
mod connections;
mod database_metrics;
mod hash_lists;
mod imports;
mod management;
mod ops;
mod rate;
mod statistics;
mod tenant;
