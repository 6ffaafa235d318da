//! The receiver's side: checking either signature in constant time.

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use hmac::Mac;

use super::{SERVICE_PREFIX, STANDARD_PREFIX, WebhookSecret};

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

/// Checks one `X-Service-Signature` (or `-Previous`) value against the raw body.
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
