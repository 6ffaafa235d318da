//! What every listener does before a handler runs: it accepts connections fairly and within time limits ([`serve`]), gives each
//! request an id, a deadline, metrics and a log line ([`Front`]), reads bodies within a budget of memory ([`BodyReader`]), and
//! spreads refusals over time ([`Unhurried`]).
//!
//! It knows no interface. How a face words the answers that are given in its place is its own matter ([`Words`]).

mod access;
mod body;
mod fair;
mod front;
mod request_id;
pub mod serve;
mod trace;
mod unhurried;
mod words;

pub use self::{
    access::Routes,
    body::{BodyFault, BodyReader, BodySettings, Held, sender},
    fair::Share,
    front::{DEADLINE, Front, Waited},
    request_id::RequestId,
    unhurried::{RefusalSettings, Unhurried},
    words::{Answer, Fault, Words},
};
