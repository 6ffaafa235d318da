//! The author of an item: a value of its metadata. A site says where it is, with a JSON pointer.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The author of an item, as the application names it: 1 to 200 characters, none of them NUL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Author(String);

impl Author {
    /// The most characters.
    pub const LONGEST: usize = 200;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text cannot be an author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must have 1 to 200 characters, none of them NUL")]
pub struct InvalidAuthor;

impl std::str::FromStr for Author {
    type Err = InvalidAuthor;

    fn from_str(text: &str) -> Result<Self, InvalidAuthor> {
        text.to_owned().try_into()
    }
}

impl TryFrom<String> for Author {
    type Error = InvalidAuthor;

    fn try_from(text: String) -> Result<Self, InvalidAuthor> {
        let is_short = text.chars().take(Self::LONGEST + 1).count() <= Self::LONGEST;
        if is_short && !text.is_empty() && !text.contains('\0') {
            Ok(Self(text))
        } else {
            Err(InvalidAuthor)
        }
    }
}

impl From<Author> for String {
    fn from(author: Author) -> Self {
        author.0
    }
}

/// Where the metadata of a site's items has their author: a JSON pointer (RFC 6901), such as
/// `/user/id`. It has at most 200 characters and names at most 8 members, one within the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AuthorPointer(String);

impl AuthorPointer {
    /// The most characters.
    pub const LONGEST: usize = 200;
    /// The most names. Each costs submissions a look at the metadata.
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

    /// The author in this metadata: the text or the number that the pointer leads to. A number is
    /// taken as it is spelt. `None` if there is nothing, if it is something else, or if it
    /// [cannot be an author](Author): a longer value is not cut, because two authors would become
    /// one.
    pub fn author(&self, metadata: &RawValue) -> Option<Author> {
        let value = self.value(metadata)?;
        let author = match value.get().as_bytes().first()? {
            b'"' => serde_json::from_str(value.get()).ok()?,
            b'-' | b'0'..=b'9' => value.get().to_owned(),
            _ => return None,
        };
        Author::try_from(author).ok()
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

/// The text is not a pointer that a site can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a JSON pointer such as /user/id, of at most 200 characters and 8 names")]
pub struct InvalidAuthorPointer;

impl TryFrom<String> for AuthorPointer {
    type Error = InvalidAuthorPointer;

    fn try_from(text: String) -> Result<Self, InvalidAuthorPointer> {
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
            Err(InvalidAuthorPointer)
        }
    }
}

impl From<AuthorPointer> for String {
    fn from(pointer: AuthorPointer) -> Self {
        pointer.0
    }
}

#[cfg(test)]
mod tests;
