//! Idempotency keys, and what makes two requests the same.

mod fingerprint;

use std::str::FromStr;

pub use fingerprint::Fingerprint;

/// Longest key, in characters.
pub const MAX_IDEMPOTENCY_KEY: usize = 255;

/// A client's name for one request: 1 to 255 visible ASCII characters or spaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// As the client spelled it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to {MAX_IDEMPOTENCY_KEY} visible ASCII characters or spaces")]
pub struct MalformedIdempotencyKey;

impl FromStr for IdempotencyKey {
    type Err = MalformedIdempotencyKey;

    fn from_str(text: &str) -> Result<Self, MalformedIdempotencyKey> {
        let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if text.is_empty() || text.len() > MAX_IDEMPOTENCY_KEY || !printable {
            return Err(MalformedIdempotencyKey);
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
