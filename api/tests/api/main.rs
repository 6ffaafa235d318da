//! Both interfaces over real HTTP, on a real Postgres.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod app;
mod client;
mod compatibility;
mod connections;
mod document;
mod edge_cases;
mod errors;
mod isolation;
mod keys;
mod leftovers;
mod lenient_input;
mod limits;
mod management;
mod middleware;
mod monitoring;
mod openapi_files;
mod overload;
mod security_headers;
mod status;
mod submit;
mod unstorable_submission;
