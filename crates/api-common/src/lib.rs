//! What the two HTTP interfaces share: how a request's body, members and queries are read, how answers and problem documents are
//! written, and what OpenAPI documents say about these. `problem/code.rs` alone maps errors to status codes.

// `#[derive(Schema)]` names this crate, also in this crate.
extern crate self as api_common;

pub mod body;
mod field;
mod idempotency;
pub mod openapi;
mod operations;
mod path_parameters;
pub mod problem;
pub mod public_schemas;
mod query_parameters;
mod rate_limit_headers;
mod raw_json;
mod response;
pub mod schema;
pub mod text_decoding;

pub use self::{
    body::{JsonBody, OptionalJsonBody},
    field::{Described, Field, Time, given, or, or_null},
    idempotency::IdempotencyHeader,
    operations::{Description, Operations},
    path_parameters::{Path, Segment},
    problem::{Code, Refusal},
    query_parameters::{Parameters, Query, QueryField, given_once},
    rate_limit_headers::RateLimited,
    raw_json::RawJson,
    response::{Accepted, Created, Json, New, NoContent},
    schema::Schema,
};
pub use schema_derive::Schema;
