//! Divides a bounded resource (slots, sockets, bytes) among its holders, so that no holder can use it up.
//!
//! A holder may have at most as much as remains free. A single greedy holder gets a half, two get a
//! third each, and so on, so a newcomer always finds room. This is the dynamic threshold of shared
//! switch buffers (Choudhury and Hahne, 1998). It needs no setting, and unlike a fixed share it
//! wastes little while others ask for nothing. Holders are teams or addresses.
//!
//! Resources that are limited only by time, such as requests, are divided by a [`Pacer`]: each
//! holder has a number per second.
//!
//! Callers that can wait use [`Shares::take`], which serves the waiting holders in turn: a thousand requests of one holder
//! delay another holder's request by one, not by a thousand.

mod client_address;
mod pacer;
mod round_robin;
mod share;

pub use client_address::{Proxies, client};
pub use pacer::{Pacer, Rate, TooFar};
pub use round_robin::RoundRobin;
pub use share::{Limit, Share, Shares, Spent};
