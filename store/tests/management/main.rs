//! What people and tools see and change, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod actors;
mod decide;
mod deliveries;
mod endpoints;
mod events;
mod fixture;
mod item;
mod list;
mod recoveries;
mod sites;
mod trials;
