//! What every listener does before a handler runs: it accepts connections fairly and within time limits ([`serve`]), gives each
//! request an id, a deadline, metrics and a log line ([`Middleware`]), reads bodies within a budget of memory ([`BodyReader`]), and
//! spreads refusals over time ([`SlowRefusals`]).
//!
//! It knows no interface. How one writes the answers that are given in place of a handler's is its own matter ([`ErrorResponses`]).

mod body;
mod error_responses;
mod middleware;
mod per_address;
mod request_id;
mod routes;
pub mod serve;
mod slow_refusals;

pub use self::{
    body::{BodyFault, BodyReader, BodySettings, Held, sender},
    error_responses::{ErrorResponse, ErrorResponses, Fault},
    middleware::{DEADLINE, Middleware, Waited},
    per_address::Share,
    request_id::RequestId,
    routes::Routes,
    slow_refusals::{RefusalSettings, SlowRefusals},
};
