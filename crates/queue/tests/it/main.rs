//! The queue's promises, on a real Postgres: `DATABASE_URL` names a server on which you may create
//! databases.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall panic"
)]

mod caps;
mod checkpoints;
mod claiming;
mod dead_letters;
mod preclaimed;
mod finishing;
mod groups;
mod reservations;
mod lifecycle;
mod listings;
mod outages;
mod pausing;
mod query_plans;
mod proxy;
mod refusals;
mod repeating;
mod replaying;
mod retrying;
mod support;
mod waking;
