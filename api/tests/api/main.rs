//! Both interfaces over real HTTP, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod app;
mod client;
mod connections;
mod document;
mod front;
mod management;
mod operations;
mod status;
mod submit;
mod tenancy;
