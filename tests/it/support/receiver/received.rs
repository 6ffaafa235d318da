//! A request that a receiver got.

use std::time::{Instant, SystemTime};

use domain::signature::{WebhookSecret, verify_service, verify_standard};
use hyper::{HeaderMap, body::Bytes};

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) at: Instant,
    pub(crate) headers: HeaderMap,
    /// The bytes that are signed.
    pub(crate) body: Bytes,
}

impl Received {
    /// A header that every webhook has.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .unwrap_or_else(|| panic!("no header {name}"))
            .to_str()
            .unwrap()
    }

    /// Checks both signatures.
    pub(crate) fn assert_signed(&self, secret: &str) {
        let secret: WebhookSecret = secret.parse().unwrap();
        let now = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_secs();
        verify_service(&secret, self.header("x-service-signature"), &self.body).unwrap();
        verify_standard(
            &secret,
            self.header("webhook-id"),
            self.header("webhook-timestamp"),
            self.header("webhook-signature"),
            &self.body,
            now.try_into().unwrap(),
        )
        .unwrap();
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Whether it is about this item, with this event.
    pub(crate) fn tells(&self, event: &str, media: &str) -> bool {
        self.header("x-service-event") == event && self.json()["data"]["media_id"] == media
    }
}
