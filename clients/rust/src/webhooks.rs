//! Webhooks: whether they are genuine, and what they tell.

use http::HeaderMap;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use standardwebhooks::Webhook;

use crate::document::{MediaCreatedEvent, MediaModeratedEvent, WebhookTestPingEvent};

/// The body of any webhook.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WebhookPayload {
    /// `media.created`: an item was accepted.
    MediaCreated(MediaCreatedEvent),
    /// `media.moderated`: an item has a verdict.
    MediaModerated(MediaModeratedEvent),
    /// `webhook.test.ping`: somebody tests the endpoint.
    WebhookTestPing(WebhookTestPingEvent),
    /// An event that this version of the package does not know. Ignore it: events can be added.
    Unknown(Map<String, Value>),
}

/// Why a webhook is not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// It is not genuine, or was signed more than five minutes ago, or the secret is none.
    #[error("the webhook is not genuine, or too old")]
    NotGenuine(#[source] standardwebhooks::WebhookError),
    /// It is genuine, but its body is not what the document describes.
    #[error("the webhook's body cannot be read")]
    Unreadable(#[source] serde_json::Error),
}

/// Verifies a webhook and returns its body. `secret` is the endpoint's: `whsec_...`.
///
/// Give it the raw body: one that was parsed and written again has other bytes. The same delivery can
/// arrive twice. It then has the same header `X-Service-Delivery-ID`.
///
/// # Errors
/// [`WebhookError::NotGenuine`] if it is not genuine, or was signed more than five minutes ago. Answer
/// 401 or 400 then.
pub fn verify_webhook(
    raw_body: &[u8],
    headers: &HeaderMap,
    secret: &str,
) -> Result<WebhookPayload, WebhookError> {
    Webhook::new(secret)
        .and_then(|webhook| webhook.verify(raw_body, headers))
        .map_err(WebhookError::NotGenuine)?;
    let Named { event } = parsed(raw_body)?;
    Ok(match event.as_str() {
        "media.created" => WebhookPayload::MediaCreated(parsed(raw_body)?),
        "media.moderated" => WebhookPayload::MediaModerated(parsed(raw_body)?),
        "webhook.test.ping" => WebhookPayload::WebhookTestPing(parsed(raw_body)?),
        _ => WebhookPayload::Unknown(parsed(raw_body)?),
    })
}

#[derive(Deserialize)]
struct Named {
    event: String,
}

fn parsed<T: DeserializeOwned>(raw_body: &[u8]) -> Result<T, WebhookError> {
    serde_json::from_slice(raw_body).map_err(WebhookError::Unreadable)
}
