//! The address of an endpoint.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use url::Url;

/// The URL of an endpoint, without a fragment, because fragments are not sent. Whether it may be
/// contacted is checked elsewhere: that depends on the operator's settings.
#[derive(Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct EndpointUrl(Url);

/// The text is not a URL, or it is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be {EXPECTED}")]
pub struct InvalidEndpointUrl;

const EXPECTED: &str =
    "a URL such as https://example.com/hooks, with at most 2000 bytes when it is encoded";

impl EndpointUrl {
    /// The most bytes of a URL as it is stored.
    pub const LONGEST: usize = 2_000;

    /// What the URL must be. Reads well after "must be".
    pub const EXPECTED: &str = EXPECTED;

    /// The URL.
    pub const fn url(&self) -> &Url {
        &self.0
    }

    /// Scheme, host and port. The rest of an address may contain a secret.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }
}

impl fmt::Debug for EndpointUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EndpointUrl({})", self.origin())
    }
}

impl FromStr for EndpointUrl {
    type Err = InvalidEndpointUrl;

    fn from_str(text: &str) -> Result<Self, InvalidEndpointUrl> {
        let mut url: Url = text.parse().map_err(|_| InvalidEndpointUrl)?;
        url.set_fragment(None);
        if url.as_str().len() > Self::LONGEST {
            return Err(InvalidEndpointUrl);
        }
        Ok(Self(url))
    }
}

impl TryFrom<String> for EndpointUrl {
    type Error = InvalidEndpointUrl;

    fn try_from(text: String) -> Result<Self, InvalidEndpointUrl> {
        text.parse()
    }
}

impl From<EndpointUrl> for Url {
    fn from(url: EndpointUrl) -> Self {
        url.0
    }
}

impl From<EndpointUrl> for String {
    fn from(url: EndpointUrl) -> Self {
        url.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_no_fragment_and_is_bounded() {
        let url: EndpointUrl = "https://example.com/hooks?a=b#secret".parse().unwrap();
        assert_eq!(url.url().as_str(), "https://example.com/hooks?a=b");
        assert_eq!(format!("{url:?}"), "EndpointUrl(https://example.com)");
        let long = format!("https://example.com/{}", "a".repeat(EndpointUrl::LONGEST));
        for wrong in ["", "example.com", "//example.com/", &long] {
            let refused = wrong.parse::<EndpointUrl>().unwrap_err();
            assert!(refused.to_string().contains("such as https://"), "{wrong}");
        }
    }
}
