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
mod finishing;
mod functions;
mod groups;
mod lifecycle;
mod listings;
mod outages;
mod pausing;
mod preclaimed;
mod proxy;
mod query_plans;
mod refusals;
mod repeating;
mod replaying;
mod reservations;
mod retrying;
mod support;
mod waking;
