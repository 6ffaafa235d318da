//! Both interfaces over real HTTP, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod app;
mod client;
mod compatibility;
mod connections;
mod document;
mod documents;
mod edge;
mod errors;
mod forgiving;
mod front;
mod isolation;
mod keys;
mod leftovers;
mod limits;
mod management;
mod monitoring;
mod overload;
mod poisoned;
mod protection;
mod status;
mod submit;
