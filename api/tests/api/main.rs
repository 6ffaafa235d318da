//! The public interface over real HTTP, on a real Postgres.

mod app;
mod client;
mod connections;
mod document;
mod front;
mod operations;
mod status;
mod submit;
mod tenancy;
