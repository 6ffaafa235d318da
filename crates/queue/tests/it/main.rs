//! The queue's promises, on a real Postgres: `DATABASE_URL` names a server on which you may create
//! databases.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up shall panic"
)]

mod capping;
mod checkpoints;
mod claiming;
mod dying;
mod eager;
mod finishing;
mod groups;
mod handing;
mod lifecycle;
mod operating;
mod outages;
mod pausing;
mod plans;
mod proxy;
mod refusals;
mod repeating;
mod replaying;
mod retrying;
mod support;
mod waking;
