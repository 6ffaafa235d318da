//! Both interfaces over real HTTP, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod app;
mod client;
mod compatibility;
mod connections;
mod document;
mod openapi_files;
mod edge_cases;
mod errors;
mod lenient_input;
mod middleware;
mod isolation;
mod keys;
mod leftovers;
mod limits;
mod management;
mod monitoring;
mod overload;
mod unstorable_submission;
mod security_headers;
mod status;
mod submit;
