//! What the two HTTP interfaces share: how a request's body, members and queries are read, how answers and problem documents are
//! written, and what OpenAPI documents say about these. `problem/code.rs` alone maps errors to status codes.

pub mod body;
pub mod field;
pub mod idempotency;
pub mod openapi;
pub mod operations;
pub mod path_parameters;
pub mod problem;
pub mod public_schemas;
pub mod query_parameters;
pub mod rate_limit_headers;
pub mod raw_json;
pub mod response;
pub mod text_decoding;
