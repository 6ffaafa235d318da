//! Accepting submissions on a real Postgres.

mod images;
mod locked_teams;
mod bad_rows;
mod quota;
mod idempotency;
mod storing;
mod submitter;
mod trace;
