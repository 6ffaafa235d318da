//! The HTTP interfaces: the public one that applications call, the management interface for operators and teams, and the
//! monitoring endpoints of every process.
//!
//! A request passes the crate `http-server` (connections, time limits, request ids, metrics, the access log) and a handler here or in the
//! crate `management-api`. Only these crates know HTTP. The crates below it have typed values and neutral errors; `problem/code.rs`
//! alone maps these to status codes.

mod caller;
mod compat;
mod html_pages;
pub mod main_listener;
pub mod monitoring_listener;
pub mod openapi_documents;
mod prefer_header;
mod probes;
mod problem_responses;
pub mod public;
mod security_headers;

pub use probes::Readiness;
pub use problem_responses::ProblemDocuments;
