//! The author of an item: a value of its metadata. A site says where it is, with a JSON pointer.

#[cfg(test)]
mod tests;

use serde_json::value::RawValue;

use crate::{
    metadata_pointer::MetadataPointer,
    text_type::{has_at_most, text_type},
};

text_type! {
    /// The author of an item, as the application names it: 1 to 200 characters, none of them NUL.
    Author(is_author);

    /// The text cannot be an author.
    InvalidAuthor = "must have 1 to 200 characters, none of them NUL"
}

impl Author {
    /// The most characters.
    pub const LONGEST: usize = 200;
}

fn is_author(text: &str) -> bool {
    !text.is_empty() && has_at_most(Author::LONGEST, text) && !text.contains('\0')
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
