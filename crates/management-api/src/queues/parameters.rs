//! How requests name queues, causes of death, and texts in errors.

use std::str::FromStr;

use api_common::{Described, Segment};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef},
    types::Type as _,
};
use queue::DeathCause;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A text that can be the name of a queue. Whether there is such a queue is decided where it is
/// looked up, because only operators may know.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct QueueKey(String);

impl QueueKey {
    const LONGEST: usize = 63;

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is not one of these.
#[derive(Debug, thiserror::Error)]
#[error("is not valid")]
pub(super) struct Invalid;

impl TryFrom<String> for QueueKey {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let is_part = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.');
        let length = text.len();
        if (1..=Self::LONGEST).contains(&length) && text.bytes().all(is_part) {
            Ok(Self(text))
        } else {
            Err(Invalid)
        }
    }
}

impl FromStr for QueueKey {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.to_owned().try_into()
    }
}

impl Described for QueueKey {
    fn expected() -> String {
        "the name of a queue, such as `analysis`".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            pattern: Some("^[a-z0-9_.-]+$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Segment for QueueKey {
    fn segment_schema() -> MetaSchemaRef {
        String::schema_ref()
    }

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

/// Why a job died.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cause(pub(super) DeathCause);

impl FromStr for Cause {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let mut all = DeathCause::ALL.into_iter();
        let found = all.find(|cause| cause.as_str() == text);
        found.map(Self).ok_or(Invalid)
    }
}

impl<'de> Deserialize<'de> for Cause {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl Described for Cause {
    const NAME: Option<&str> = Some("DeathCause");

    fn expected() -> String {
        let names = DeathCause::ALL.map(|cause| format!("`{}`", cause.as_str()));
        format!("one of {}", names.join(", "))
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            description: Some("Why a job died."),
            enum_items: DeathCause::ALL.map(|cause| cause.as_str().into()).into(),
            ..MetaSchema::new("string")
        }
    }
}

/// A text that an error contains.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct ErrorText(String);

impl ErrorText {
    const LONGEST: usize = 200;

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ErrorText {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let characters = text.chars().take(Self::LONGEST + 1).count();
        if (1..=Self::LONGEST).contains(&characters) && !text.contains('\0') {
            Ok(Self(text))
        } else {
            Err(Invalid)
        }
    }
}

impl FromStr for ErrorText {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        text.to_owned().try_into()
    }
}

impl Described for ErrorText {
    fn expected() -> String {
        format!("a text of 1 to {} characters, without NUL", Self::LONGEST)
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            ..MetaSchema::new("string")
        }
    }
}
