//! Bodies that are no proper answer.

use serde_json::Value;

use crate::support::provider::{Shown, wire::Wire};

/// A body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// As documented.
    Whole,
    /// This text.
    Text(&'static str),
    /// Two thirds of what is documented.
    Truncated,
    /// What is documented, after a byte order mark.
    Marked,
    /// The same in UTF-16.
    Utf16,
    /// The body contains a byte that is not valid UTF-8.
    BadUtf8,
    /// This many nested brackets.
    Deep(usize),
    /// A text of this many bytes.
    Long(usize),
    /// What is documented, after this many spaces.
    Late(usize),
    /// This instead of the score.
    Score(&'static str),
    /// There are two scores: the right one, and the one for calm content.
    Twice,
    /// A list of results also contains the results for calm content.
    Twin,
    /// Half of what was asked for.
    Half,
    /// About other categories.
    Foreign,
    /// An error.
    Error,
    /// What is documented, followed by this.
    Before(&'static str),
    /// What is documented, twice.
    Again,
    /// What is documented, as the argument of a function call.
    Script,
}

impl Shape {
    pub(super) fn of(self, wire: Wire, shown: &Shown, well: &str) -> Vec<u8> {
        let place = wire.place(shown.is_text());
        let right = format!("{}{}", place.key, place.high);
        match self {
            Self::Whole => well.into(),
            Self::Text(text) => text.into(),
            Self::Truncated => well[..well.len() * 2 / 3].into(),
            Self::Marked => format!("\u{feff}{well}").into(),
            Self::Utf16 => well.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::BadUtf8 => {
                let mut bytes = well.as_bytes().to_vec();
                let at = well.rfind(&place.key).unwrap_or(2) + place.key.len() / 2;
                bytes[at] = 0xff;
                bytes
            }
            Self::Deep(depth) => "[".repeat(depth).into(),
            Self::Long(length) => format!("\"{}\"", "x".repeat(length)).into(),
            Self::Late(spaces) => (" ".repeat(spaces) + well).into(),
            Self::Score(score) => {
                // Quotes would end a JSON string.
                let quote = if place.key.contains('\\') {
                    "\\\""
                } else {
                    "\""
                };
                let score = score.replace('\'', quote);
                well.replace(&right, &format!("{}{score}", place.key))
                    .into()
            }
            Self::Twice => {
                let both = format!("{right},{}{}", place.key, place.low);
                well.replace(&right, &both).into()
            }
            Self::Twin => {
                let mut answer = wire.well(shown);
                let calm = wire.well(&shown.calm());
                for (name, list) in answer.as_object_mut().unwrap() {
                    if let (Value::Array(list), Value::Array(calm)) = (list, &calm[name]) {
                        list.extend(calm.iter().cloned());
                    }
                }
                answer.to_string().into()
            }
            Self::Half => wire.half(shown).into(),
            Self::Foreign => wire.foreign(shown).to_string().into(),
            Self::Error => wire.error(500, "on_purpose").to_string().into(),
            Self::Before(rest) => format!("{well}{rest}").into(),
            Self::Again => format!("{well}\n{well}").into(),
            Self::Script => format!("callback({well});").into(),
        }
    }
}
