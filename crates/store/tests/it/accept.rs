//! Accepting submissions on a real Postgres.

mod images;
mod locked;
mod poisoned;
mod quota;
mod repetition;
mod storing;
mod submitter;
mod trace;
