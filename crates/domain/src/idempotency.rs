//! Idempotency keys, and what makes two requests the same.

#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use serde_json::{Value, value::RawValue};
use sha2::{Digest, Sha256};

use crate::submission::{ImageSource, Submission};

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

/// The SHA-256 of what a request asks for. It is equal for two requests with equal parsed fields,
/// however they are spelled in JSON and whichever site key they use.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of a parsed submission.
    pub fn of(submission: &Submission) -> Self {
        let Submission {
            body,
            image,
            app_media_id,
            rule_group,
            metadata,
        } = submission;
        let mut fields = Fields::default();
        fields.text(body.as_deref());
        match image {
            None => fields.tag(b'-'),
            Some(ImageSource::Url(url)) => {
                fields.tag(b'u');
                fields.bytes(url.as_str().as_bytes());
            }
            // The format follows from the bytes.
            Some(ImageSource::Inline { format: _, bytes }) => {
                fields.tag(b'i');
                fields.bytes(bytes);
            }
        }
        fields.text(app_media_id.as_deref());
        match rule_group {
            None => fields.tag(b'-'),
            Some(group) => fields.bytes(group.as_uuid().as_bytes()),
        }
        match metadata {
            None => fields.tag(b'-'),
            Some(metadata) => fields.json(metadata),
        }
        Self(fields.0.finalize().into())
    }

    /// The 32 bytes as they are stored.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    /// Shows nothing: short content could be guessed from the hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fingerprint")
    }
}

/// Hashes values one after the other, so that no two sequences of values give the same bytes.
#[derive(Default)]
struct Fields(Sha256);

impl Fields {
    fn tag(&mut self, tag: u8) {
        self.0.update([tag]);
    }

    fn length(&mut self, length: usize) {
        self.0.update((length as u64).to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.tag(b'b');
        self.length(bytes.len());
        self.0.update(bytes);
    }

    fn text(&mut self, text: Option<&str>) {
        match text {
            None => self.tag(b'-'),
            Some(text) => self.bytes(text.as_bytes()),
        }
    }

    fn json(&mut self, raw: &RawValue) {
        match serde_json::from_str(raw.get()) {
            Ok(value) => self.value(&value),
            // Too deep for the parser: the spelling counts instead.
            Err(_) => self.bytes(raw.get().as_bytes()),
        }
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.tag(b'n'),
            Value::Bool(false) => self.tag(b'f'),
            Value::Bool(true) => self.tag(b't'),
            Value::Number(number) => {
                self.tag(b'd');
                self.bytes(number.to_string().as_bytes());
            }
            Value::String(text) => {
                self.tag(b's');
                self.bytes(text.as_bytes());
            }
            Value::Array(values) => {
                self.tag(b'[');
                self.length(values.len());
                for value in values {
                    self.value(value);
                }
            }
            Value::Object(members) => {
                self.tag(b'{');
                self.length(members.len());
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(name, _)| *name);
                for (name, value) in members {
                    self.bytes(name.as_bytes());
                    self.value(value);
                }
            }
        }
    }
}
