//! The author of an item: a value of its metadata. A site says where it is, with a JSON pointer.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::metadata_pointer::MetadataPointer;

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

impl MetadataPointer {
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

#[cfg(test)]
mod tests;
