//! What every listener does before a handler runs: it accepts connections fairly and within time limits ([`serve`]), gives each
//! request an id, a deadline, metrics and a log line ([`Middleware`]), reads bodies within a budget of memory ([`BodyReader`]), and
//! spreads refusals over time ([`SlowRefusals`]).
//!
//! It knows no interface. How one writes the answers that are given in place of a handler's is its own matter ([`ErrorResponses`]).

mod routes;
mod body;
mod per_address;
mod middleware;
mod request_id;
pub mod serve;
mod trace;
mod slow_refusals;
mod error_responses;

pub use self::{
    routes::Routes,
    body::{BodyFault, BodyReader, BodySettings, Held, sender},
    per_address::Share,
    middleware::{DEADLINE, Middleware, Waited},
    request_id::RequestId,
    slow_refusals::{RefusalSettings, SlowRefusals},
    error_responses::{ErrorResponse, Fault, ErrorResponses},
};
