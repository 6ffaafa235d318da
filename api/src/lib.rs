//! The HTTP interfaces: the public one that applications call, the management interface for operators and teams, and the
//! monitoring endpoints of every process.
//!
//! A request passes the crate `http-server` (connections, time limits, request ids, metrics, the access log) and a handler here or in the
//! crate `management-api`. Only these crates know HTTP. The crates below it have typed values and neutral errors; `problem/code.rs`
//! alone maps these to status codes.

mod caller;
mod compat;
pub mod documents;
pub mod interface;
pub mod monitoring;
mod pages;
mod prefer;
mod probes;
mod protection;
pub mod public;
mod words;

pub use probes::Readiness;
pub use words::ProblemDocuments;
