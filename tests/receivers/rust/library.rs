use http::HeaderMap;
use standardwebhooks::{Webhook, WebhookError};

pub fn verify(raw_body: &[u8], headers: &HeaderMap, secret: &str) -> Result<(), WebhookError> {
    Webhook::new(secret)?.verify(raw_body, headers)
}
