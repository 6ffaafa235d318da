//! Strings in JSON that contain half of a character. JavaScript and Java count UTF-16 units, so their programs easily
//! cut an emoji in half. JSON writes such a half as an escape (`\ud83d`), but no text in UTF-8 can contain it. A text
//! that is only judged gets U+FFFD in its place. Where a value is sent back unchanged, it is refused.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde_json::value::RawValue;

/// A string without half characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonText {
    /// The text, with U+FFFD in place of each half.
    pub text: String,
    /// The first half, if the string has one.
    pub half: Option<Half>,
}

/// Where half of a character is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// It is the last character, and its second half is missing.
    Last,
    /// It is the first character, and its first half is missing.
    First,
    /// Anywhere else.
    Inside,
}

/// What is wrong, and how to mend it. The text continues the name of a field.
impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Last => "ends with half of a character: the last emoji was cut in half",
            Self::First => "begins with half of a character: the first emoji was cut in half",
            Self::Inside => "contains half of a character: an emoji was cut in half",
        })?;
        f.write_str(
            ". Cut texts between characters: in JavaScript with Intl.Segmenter or Array.from instead of slice or substring",
        )
    }
}

impl JsonText {
    /// Reads a JSON string. `None` if the value is something else.
    pub fn read(json: &RawValue) -> Option<Self> {
        let json = json.get();
        let inner = json.strip_prefix('"')?.strip_suffix('"')?;
        // Most strings, and all long ones, have no escapes.
        if !inner.contains('\\') {
            return Some(Self {
                text: inner.to_owned(),
                half: None,
            });
        }
        if let Ok(text) = serde_json::from_str(json) {
            return Some(Self { text, half: None });
        }
        let Wtf8(mut bytes) = serde_json::from_str(json).ok()?;
        replace_halves(&mut bytes);
        Some(Self {
            text: String::from_utf8(bytes).ok()?,
            half: first_half(json).map(|(_, half)| half),
        })
    }
}

/// The first half of a character in any string of a valid JSON text, and the place of its escape. Takes linear time.
pub fn first_half(json: &str) -> Option<(usize, Half)> {
    let bytes = json.as_bytes();
    // `after` is the end of the escape before.
    let (mut at, mut after) = (0, 0);
    while let Some(next) = json.get(at..)?.find('\\') {
        at += next;
        match unit(bytes, at) {
            None => at += 2,
            Some(0xd800..=0xdbff) if matches!(unit(bytes, at + 6), Some(0xdc00..=0xdfff)) => {
                at += 12;
            }
            Some(0xd800..=0xdbff) if bytes.get(at + 6) == Some(&b'"') => {
                return Some((at, Half::Last));
            }
            // An escaped quote before it ends where it begins.
            Some(0xdc00..=0xdfff) if at > after && bytes[at - 1] == b'"' => {
                return Some((at, Half::First));
            }
            Some(0xd800..=0xdfff) => return Some((at, Half::Inside)),
            Some(_) => at += 6,
        }
        after = at;
    }
    None
}

/// The UTF-16 unit that is escaped here.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..)?.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
}

/// A string as UTF-8, in which half characters are encoded like whole ones.
struct Wtf8(Vec<u8>);

impl<'de> Deserialize<'de> for Wtf8 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl Visitor<'_> for Reader {
            type Value = Wtf8;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Wtf8, E> {
                Ok(Wtf8(bytes.to_owned()))
            }
        }

        deserializer.deserialize_bytes(Reader)
    }
}

/// Half a character has three bytes, the first of them 0xed and the second at least 0xa0. So has U+FFFD.
fn replace_halves(bytes: &mut [u8]) {
    for at in 0..bytes.len().saturating_sub(2) {
        if bytes[at] == 0xed && bytes[at + 1] >= 0xa0 {
            bytes[at..at + 3].copy_from_slice("\u{fffd}".as_bytes());
        }
    }
}

#[cfg(test)]
mod tests;
