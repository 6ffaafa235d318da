//! The HTTP interfaces: the public one that applications call, the management interface for operators and teams, and the
//! monitoring endpoints of every process.
//!
//! A request passes [`serve`] (connections and time limits), the front (request ids, problem
//! documents, metrics, the access log) and a handler under `public/` or `management/`. Only this
//! crate knows HTTP. The crates below it have typed values and neutral errors; `problem/code.rs`
//! alone maps these to status codes.

mod access;
mod answer;
mod body;
mod caller;
pub mod documents;
mod fair;
mod front;
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
mod probes;
mod problem;
mod protection;
pub mod public;
mod query;
mod raw;
mod refusals;
mod request_id;
pub mod serve;
mod text;

pub use body::BodySettings;
pub use front::DEADLINE;
pub use probes::Readiness;
pub use refusals::RefusalSettings;
