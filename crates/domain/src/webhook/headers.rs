//! The headers that an endpoint's owner adds to every request, such as the credentials of a gateway
//! before the receiver.

use serde::{Deserialize, Serialize};

/// The most headers of one endpoint.
pub const MAX_HEADERS: usize = 20;
/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 100;
/// The longest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 2_000;

/// A header that the owner chose. Its `Debug` form does not show the value, which may be a
/// credential.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomHeader {
    name: String,
    value: String,
}

/// Why a header is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidHeader {
    /// The name is not a token as defined by RFC 9110, or is too long.
    #[error("a header's name consists of up to 100 letters, digits and hyphens")]
    Name,
    /// The service, HTTP or a proxy sets this header.
    #[error("this header is set by the service, by HTTP or by proxies and cannot be chosen")]
    Reserved,
    /// The value is too long, or contains something other than visible ASCII and inner spaces.
    #[error(
        "a header's value is 1 to 2,000 visible ASCII characters and spaces, with no space at its start or end"
    )]
    Value,
}

impl CustomHeader {
    /// Checks a header.
    ///
    /// Names with underscores are refused: many servers treat `_` and `-` alike, so
    /// `X_Service_Signature` would pass for the service's own header. Headers that were stored
    /// before a name was refused are not checked again.
    ///
    /// # Errors
    /// [`InvalidHeader`] says what is wrong.
    pub fn new(name: &str, value: &str) -> Result<Self, InvalidHeader> {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(token) {
            return Err(InvalidHeader::Name);
        }
        let name = name.to_ascii_lowercase();
        if is_reserved(&name) {
            return Err(InvalidHeader::Reserved);
        }
        let visible = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
        let fits = (1..=MAX_VALUE_BYTES).contains(&value.len()) && value.trim() == value;
        if !fits || !value.bytes().all(visible) {
            return Err(InvalidHeader::Value);
        }
        Ok(Self {
            name,
            value: value.to_owned(),
        })
    }

    /// Its name, in lower case.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its value. Send it, but never log it.
    pub fn expose(&self) -> &str {
        &self.value
    }
}

impl std::fmt::Debug for CustomHeader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CustomHeader({}: ..)", self.name)
    }
}

/// Headers that say who sends the request, when, through whom, what it contains and how the
/// connection is used, and which trace it belongs to. With a free choice of these, a request could
/// look like another sender's, or smuggle in a second one.
fn is_reserved(name: &str) -> bool {
    const PREFIXES: [&str; 5] = ["x-service-", "webhook-", "proxy-", "sec-", "x-forwarded-"];
    const NAMES: [&str; 20] = [
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "expect",
        "forwarded",
        "host",
        "http2-settings",
        "keep-alive",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "via",
        "x-real-ip",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests;
