//! What the two HTTP interfaces share: how a request's body, members and queries are read, how answers and problem documents are
//! written, and what OpenAPI documents say about these. `problem/code.rs` alone maps errors to status codes.

pub mod answer;
pub mod contract;
pub mod idempotency;
pub mod limited;
pub mod member;
pub mod openapi;
pub mod operations;
pub mod path;
pub mod payload;
pub mod problem;
pub mod query;
pub mod raw;
pub mod text;
