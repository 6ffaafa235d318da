//! Places in the metadata of items, as JSON pointers name them.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::text_type::{has_at_most, text_type};

text_type! {
    /// A place in the metadata of items: a JSON pointer (RFC 6901), such as `/user/id`. It has at
    /// most 200 characters and names at most 8 members, one within the other.
    MetadataPointer(is_metadata_pointer);

    /// The text cannot be such a pointer.
    InvalidMetadataPointer =
        "must be a JSON pointer such as /user/id, of at most 200 characters and 8 names"
}

impl MetadataPointer {
    /// The most characters.
    pub const LONGEST: usize = 200;
    /// The most names. Each costs a look at the metadata.
    pub const DEEPEST: usize = 8;

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

fn is_metadata_pointer(text: &str) -> bool {
    has_at_most(MetadataPointer::LONGEST, text)
        && text.starts_with('/')
        && text.matches('/').count() <= MetadataPointer::DEEPEST
        && !text.contains('\0')
        && text
            .split('~')
            .skip(1)
            .all(|rest| rest.starts_with(['0', '1']))
}
