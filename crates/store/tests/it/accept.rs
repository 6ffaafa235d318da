//! Accepting submissions on a real Postgres.

mod bad_rows;
mod idempotency;
mod images;
mod locked_teams;
mod quota;
mod storing;
mod submitter;
mod trace;
