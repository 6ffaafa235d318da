//! The two signatures of every webhook, and how a receiver checks them.
//!
//! The service's own scheme signs the raw body with the secret's text. The Standard Webhooks scheme
//! signs id, time and body with the secret's decoded bytes, so that a receiver can also refuse
//! replays.

#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::id::EventId;

/// The service's own signature, `sha256=<hex>`.
pub const SERVICE_SIGNATURE: &str = "X-Service-Signature";
/// The same with the previous secret, during the grace period of a rotation.
pub const SERVICE_SIGNATURE_PREVIOUS: &str = "X-Service-Signature-Previous";
/// Standard Webhooks: the event's id.
pub const STANDARD_ID: &str = "webhook-id";
/// Standard Webhooks: when this attempt was signed, in Unix seconds.
pub const STANDARD_TIMESTAMP: &str = "webhook-timestamp";
/// Standard Webhooks: `v1,<base64>`; several are separated by a space.
pub const STANDARD_SIGNATURE: &str = "webhook-signature";

const SECRET_PREFIX: &str = "whsec_";
const SERVICE_PREFIX: &str = "sha256=";
const STANDARD_PREFIX: &str = "v1,";

/// A site's webhook secret: `whsec_` and the base64 of 32 random bytes. Its `Debug` form does not
/// show it.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret {
    shown: String,
    bytes: [u8; 32],
}

/// The text is not `whsec_` followed by the base64 of 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a webhook secret is `whsec_` followed by the base64 of 32 bytes")]
pub struct InvalidWebhookSecret;

impl WebhookSecret {
    /// A new secret from 32 bytes of a cryptographic random source.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        let shown = format!("{SECRET_PREFIX}{}", BASE64.encode(bytes));
        Self { shown, bytes }
    }

    /// The whole secret: to be shown to its owner once, or to be encrypted. Never log it.
    pub fn expose(&self) -> &str {
        &self.shown
    }

    fn service_mac(&self, raw_body: &[u8]) -> Hmac<Sha256> {
        mac_over(self.shown.as_bytes(), &[raw_body])
    }

    fn standard_mac(&self, id: &str, timestamp: &str, raw_body: &[u8]) -> Hmac<Sha256> {
        mac_over(
            &self.bytes,
            &[id.as_bytes(), b".", timestamp.as_bytes(), b".", raw_body],
        )
    }
}

impl FromStr for WebhookSecret {
    type Err = InvalidWebhookSecret;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let encoded = text
            .strip_prefix(SECRET_PREFIX)
            .ok_or(InvalidWebhookSecret)?;
        let decoded = BASE64.decode(encoded).map_err(|_| InvalidWebhookSecret)?;
        let bytes = decoded.try_into().map_err(|_| InvalidWebhookSecret)?;
        Ok(Self {
            shown: text.to_owned(),
            bytes,
        })
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(..)")
    }
}

/// The value of `X-Service-Signature`: HMAC-SHA256 over the raw body, keyed with the secret's text
/// as shown.
pub fn sign_service(secret: &WebhookSecret, raw_body: &[u8]) -> String {
    let digest = secret.service_mac(raw_body).finalize().into_bytes();
    format!("{SERVICE_PREFIX}{}", hex::encode(digest))
}

/// One signature of `webhook-signature`: HMAC-SHA256 over `<id>.<timestamp>.<raw body>`, keyed with
/// the secret's decoded bytes. `timestamp` is in Unix seconds.
pub fn sign_standard(
    secret: &WebhookSecret,
    id: EventId,
    timestamp: i64,
    raw_body: &[u8],
) -> String {
    let mac = secret.standard_mac(&id.to_string(), &timestamp.to_string(), raw_body);
    format!(
        "{STANDARD_PREFIX}{}",
        BASE64.encode(mac.finalize().into_bytes())
    )
}

/// The secrets that sign an attempt: the current one and, during the grace period of a rotation,
/// the previous one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SigningSecrets {
    /// Signs everything.
    pub current: WebhookSecret,
    /// Also signs, until the receivers use the current one.
    pub previous: Option<WebhookSecret>,
}

/// The signature headers of one delivery attempt, as (name, value) pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHeaders(Vec<(&'static str, String)>);

impl SignatureHeaders {
    /// Signs one attempt made at `timestamp` (Unix seconds) to deliver the event `id`, whose body
    /// on the wire is `raw_body`.
    pub fn sign(secrets: &SigningSecrets, id: EventId, timestamp: i64, raw_body: &[u8]) -> Self {
        let mut standard = sign_standard(&secrets.current, id, timestamp, raw_body);
        let mut headers = vec![
            (STANDARD_ID, id.to_string()),
            (STANDARD_TIMESTAMP, timestamp.to_string()),
            (SERVICE_SIGNATURE, sign_service(&secrets.current, raw_body)),
        ];
        if let Some(previous) = &secrets.previous {
            headers.push((SERVICE_SIGNATURE_PREVIOUS, sign_service(previous, raw_body)));
            standard.push(' ');
            standard.push_str(&sign_standard(previous, id, timestamp, raw_body));
        }
        headers.push((STANDARD_SIGNATURE, standard));
        Self(headers)
    }

    /// Every header to send.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(name, value)| (*name, value.as_str()))
    }
}

fn mac_over(key: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        mac.update(part);
    }
    mac
}

/// How far a Standard Webhooks timestamp may differ from the receiver's clock, in either direction.
/// The official libraries use the same five minutes.
pub const TOLERANCE_SECONDS: u64 = 300;

/// Why a signature was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// The header does not have its scheme's form.
    #[error("the signature is malformed")]
    Malformed,
    /// Well formed, but not made with this secret over these bytes.
    #[error("the signature does not match")]
    Mismatch,
    /// Signed longer ago, or further ahead, than [`TOLERANCE_SECONDS`].
    #[error("the timestamp is too far from now")]
    Stale,
}

/// The receiver's side: checks, in constant time, one `X-Service-Signature` (or `-Previous`) value against the raw body.
pub fn verify_service(
    secret: &WebhookSecret,
    header: &str,
    raw_body: &[u8],
) -> Result<(), Unverified> {
    let digest = header
        .strip_prefix(SERVICE_PREFIX)
        .ok_or(Unverified::Malformed)?;
    let digest = hex::decode(digest).map_err(|_| Unverified::Malformed)?;
    secret
        .service_mac(raw_body)
        .verify_slice(&digest)
        .map_err(|_| Unverified::Mismatch)
}

/// Checks the three Standard Webhooks headers against the raw body and the receiver's clock (`now`,
/// Unix seconds). If there are several signatures, one matching signature is enough. Versions other
/// than `v1` are ignored.
pub fn verify_standard(
    secret: &WebhookSecret,
    id: &str,
    timestamp: &str,
    signatures: &str,
    raw_body: &[u8],
    now: i64,
) -> Result<(), Unverified> {
    let signed_at: i64 = timestamp.parse().map_err(|_| Unverified::Malformed)?;
    if now.abs_diff(signed_at) > TOLERANCE_SECONDS {
        return Err(Unverified::Stale);
    }
    let mac = secret.standard_mac(id, timestamp, raw_body);
    let mut well_formed = signatures
        .split(' ')
        .filter_map(|signature| BASE64.decode(signature.strip_prefix(STANDARD_PREFIX)?).ok())
        .peekable();
    if well_formed.peek().is_none() {
        return Err(Unverified::Malformed);
    }
    if well_formed.any(|digest| mac.clone().verify_slice(&digest).is_ok()) {
        Ok(())
    } else {
        Err(Unverified::Mismatch)
    }
}
