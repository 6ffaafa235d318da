//! What can go wrong with a request to an address that a tenant chose.

use std::{error::Error, io, iter};

use super::{Busy, Refusal};

/// Where an error comes from, for the log.
type Source = Box<dyn Error + Send + Sync>;

/// Why there is no answer.
///
/// Its `Display` form may be shown to the tenant: it has no resolved address and no internal
/// detail. The sources are for the log.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The egress rules forbid this address; nothing was sent.
    #[error("{0}")]
    Refused(Refusal),
    /// Nothing was sent, because this process had no free connection in time. This is not the
    /// receiver's fault.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// No complete answer within the deadline.
    #[error("no complete answer in time")]
    Timeout,
    /// The name did not resolve, or the connection was not accepted.
    #[error("the connection could not be established")]
    Connect(#[source] Source),
    /// The TLS handshake failed, for instance because the certificate could not be verified.
    #[error("the TLS handshake failed or the certificate could not be verified")]
    Tls(#[source] Source),
    /// The connection broke, or the answer was not HTTP.
    #[error("the answer was not valid HTTP, or the connection broke")]
    Protocol(#[source] Source),
}

impl OutboundError {
    /// An error from before there was a connection.
    pub(super) fn connecting(error: io::Error) -> Self {
        if is_of_tls(&error) {
            Self::Tls(error.into())
        } else {
            Self::Connect(error.into())
        }
    }
}

impl From<hyper::Error> for OutboundError {
    fn from(error: hyper::Error) -> Self {
        if is_of_tls(&error) {
            Self::Tls(error.into())
        } else {
            Self::Protocol(error.into())
        }
    }
}

fn is_of_tls(error: &(dyn Error + 'static)) -> bool {
    iter::successors(Some(error), |error| next_cause(*error)).any(<dyn Error>::is::<rustls::Error>)
}

/// Like `source`, but also returns the error that an I/O error wraps, which its own `source` skips.
fn next_cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>() {
        Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    }
}
