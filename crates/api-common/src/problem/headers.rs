//! The headers of problem documents: when to try again, how to authenticate, and the rate limits.

use poem::http::{HeaderMap, HeaderValue, header};

use super::{CONTENT_TYPE, Refusal};
use crate::rate_limit_headers;

/// In how many seconds to try again if nothing better is known.
const SOON: u32 = 1;

impl Refusal {
    /// Its headers.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(CONTENT_TYPE));
        if self.code.is_passing() {
            let seconds = self.wait.unwrap_or(SOON);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(challenge) = self.code.challenge() {
            headers.insert(
                header::WWW_AUTHENTICATE,
                HeaderValue::from_static(challenge),
            );
        }
        if let Some(rate) = &self.rate {
            rate_limit_headers::declare(&mut headers, rate);
        }
        headers
    }
}
