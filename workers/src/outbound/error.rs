//! What can go wrong with a request to an address that a tenant chose.

use std::{error::Error, io, iter};

use super::Refusal;

/// Why there is no answer.
///
/// What it displays may be shown to the tenant: no resolved address, no internal detail. The sources are for the log.
#[derive(Debug, thiserror::Error)]
pub enum OutboundError {
    /// The egress rules forbid this address; nothing was sent.
    #[error("{0}")]
    Refused(Refusal),
    /// No complete answer within the deadline.
    #[error("no complete answer in time")]
    Timeout,
    /// The name did not resolve, or nobody accepted the connection.
    #[error("the connection could not be established")]
    Connect(#[source] reqwest::Error),
    /// The TLS handshake failed, for instance because the certificate could not be verified.
    #[error("the TLS handshake failed or the certificate could not be verified")]
    Tls(#[source] reqwest::Error),
    /// The connection broke, or what came over it was not HTTP.
    #[error("the answer was not valid HTTP, or the connection broke")]
    Protocol(#[source] reqwest::Error),
}

impl From<reqwest::Error> for OutboundError {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        if let Some(refusal) = find_cause(&error) {
            Self::Refused(*refusal)
        } else if find_cause::<rustls::Error>(&error).is_some() {
            Self::Tls(error)
        } else if error.is_connect() {
            Self::Connect(error)
        } else {
            Self::Protocol(error)
        }
    }
}

fn find_cause<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    iter::successors(Some(error), |error| next_cause(*error)).find_map(|error| error.downcast_ref())
}

/// Like `source`, but also steps into what an I/O error wraps, which its own `source` skips.
fn next_cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref::<io::Error>() {
        Some(io) => io.get_ref().map(|inner| inner as &(dyn Error + 'static)),
        None => error.source(),
    }
}
