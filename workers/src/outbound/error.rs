//! What can go wrong with a request to an address that a tenant chose.

use std::{error::Error, io, iter};

use super::Busy;

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

/// The reason of a refusal: a closed set, so it can be a metric label.
///
/// Its `Display` form is for the tenant. It distinguishes what the tenant can see in the URL. For
/// all forbidden addresses it is the same, so that it does not help to map the internal network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// Not a URL.
    #[error("this is not a valid URL")]
    Url,
    /// Neither `http` nor `https`.
    #[error("only http and https URLs are contacted")]
    Scheme,
    /// `user:password@` in the URL.
    #[error("a URL with a user name or password is not contacted")]
    UserInfo,
    /// A port that is open neither in general nor for this address.
    #[error("this port is not permitted")]
    Port,
    /// `localhost`, a name below it, or the name of a cloud's metadata service.
    #[error("this address is not permitted")]
    Name,
    /// The machine itself, its "any" addresses included.
    #[error("this address is not permitted")]
    Loopback,
    /// Private, shared (carrier-grade NAT), unique local and site-local networks.
    #[error("this address is not permitted")]
    Private,
    /// The local link.
    #[error("this address is not permitted")]
    LinkLocal,
    /// A cloud's metadata service.
    #[error("this address is not permitted")]
    Metadata,
    /// Multicast and broadcast.
    #[error("this address is not permitted")]
    Multicast,
    /// An IPv6 address with an IPv4 address inside: mapped, compatible, NAT64, 6to4, Teredo, ISATAP.
    #[error("this address is not permitted")]
    Translated,
    /// Documentation, benchmarking, protocol assignments and everything that is not assigned yet.
    #[error("this address is not permitted")]
    Reserved,
}

impl Refusal {
    /// Every reason.
    pub const ALL: [Self; 12] = [
        Self::Url,
        Self::Scheme,
        Self::UserInfo,
        Self::Port,
        Self::Name,
        Self::Loopback,
        Self::Private,
        Self::LinkLocal,
        Self::Metadata,
        Self::Multicast,
        Self::Translated,
        Self::Reserved,
    ];

    /// What the tenant can do about it.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Url => "write it like https://example.com/hooks",
            Self::Scheme => "begin it with https:// or http://",
            Self::UserInfo => "send credentials in a header of its own instead",
            Self::Port => "use 80, 443, 8080 or 8443",
            Self::Name
            | Self::Loopback
            | Self::Private
            | Self::LinkLocal
            | Self::Metadata
            | Self::Multicast
            | Self::Translated
            | Self::Reserved => "use a public one",
        }
    }

    /// The value of the metric label `reason`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Url => "url",
            Self::Scheme => "scheme",
            Self::UserInfo => "user_info",
            Self::Port => "port",
            Self::Name => "name",
            Self::Loopback => "loopback",
            Self::Private => "private",
            Self::LinkLocal => "link_local",
            Self::Metadata => "metadata",
            Self::Multicast => "multicast",
            Self::Translated => "translated",
            Self::Reserved => "reserved",
        }
    }
}
