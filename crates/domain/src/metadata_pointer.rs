//! Places in the metadata of items, as JSON pointers name them.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A place in the metadata of items: a JSON pointer (RFC 6901), such as `/user/id`. It has at most
/// 200 characters and names at most 8 members, one within the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MetadataPointer(String);

impl MetadataPointer {
    /// The most characters.
    pub const LONGEST: usize = 200;
    /// The most names. Each costs a look at the metadata.
    pub const DEEPEST: usize = 8;

    /// The pointer, as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value that the pointer leads to in this metadata. `None` if there is nothing.
    pub fn value<'m>(&self, metadata: &'m RawValue) -> Option<&'m RawValue> {
        let names = self.0.split('/').skip(1);
        let mut value = metadata;
        for name in names {
            value = member(value, &unescaped(name))?;
        }
        Some(value)
    }
}

/// The member of an object, or the element of an array. Of equal names, the last one counts.
fn member<'a>(value: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    match value.get().as_bytes().first()? {
        b'{' => {
            let members: HashMap<String, &RawValue> = serde_json::from_str(value.get()).ok()?;
            members.get(name).copied()
        }
        b'[' => {
            let place = place(name)?;
            let elements: Vec<&RawValue> = serde_json::from_str(value.get()).ok()?;
            elements.get(place).copied()
        }
        _ => None,
    }
}

/// The index of an element: digits without a leading zero.
fn place(name: &str) -> Option<usize> {
    let has_only_digits = name.bytes().all(|byte| byte.is_ascii_digit());
    let is_index = has_only_digits && (name == "0" || !name.starts_with('0'));
    is_index.then(|| name.parse().ok()).flatten()
}

fn unescaped(name: &str) -> String {
    name.replace("~1", "/").replace("~0", "~")
}

/// The text cannot be such a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a JSON pointer such as /user/id, of at most 200 characters and 8 names")]
pub struct InvalidMetadataPointer;

impl TryFrom<String> for MetadataPointer {
    type Error = InvalidMetadataPointer;

    fn try_from(text: String) -> Result<Self, InvalidMetadataPointer> {
        let is_short = text.chars().take(Self::LONGEST + 1).count() <= Self::LONGEST;
        let mut escapes = text.split('~').skip(1);
        let is_escaped = escapes.all(|rest| rest.starts_with(['0', '1']));
        let names = text.matches('/').count();
        if is_short
            && is_escaped
            && text.starts_with('/')
            && names <= Self::DEEPEST
            && !text.contains('\0')
        {
            Ok(Self(text))
        } else {
            Err(InvalidMetadataPointer)
        }
    }
}

impl From<MetadataPointer> for String {
    fn from(pointer: MetadataPointer) -> Self {
        pointer.0
    }
}

#[cfg(test)]
mod tests;
