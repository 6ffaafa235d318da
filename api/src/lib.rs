//! The HTTP interfaces: the public one that applications call, the management interface for operators and teams, and the
//! monitoring endpoints of every process.
//!
//! A request passes the crate `front` (connections, time limits, request ids, metrics, the access log) and a handler under `public/` or `management/`. Only this
//! crate knows HTTP. The crates below it have typed values and neutral errors; `problem/code.rs`
//! alone maps these to status codes.

mod answer;
mod caller;
mod compat;
pub mod documents;
mod idempotency;
pub mod interface;
mod limited;
pub mod management;
mod member;
pub mod monitoring;
mod openapi;
mod pages;
mod path;
mod payload;
mod prefer;
mod probes;
mod problem;
mod protection;
pub mod public;
mod query;
mod raw;
mod text;
mod words;

pub use probes::Readiness;
pub use words::ProblemDocuments;
