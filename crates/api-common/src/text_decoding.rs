//! Texts in requests. Where they are only judged, half characters become U+FFFD (`domain::lone_surrogates`).
//!
//! A value in a public request that is not a text is reported after the key is checked and the request is counted, like all
//! other mistakes in a submission: a request with a valid key always counts.

use std::borrow::Cow;

use domain::{
    lone_surrogates::{Half, JsonText},
    submission::NoText,
};
use poem_openapi::{registry::MetaSchemaRef, types::Type};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;

/// A member that should be a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// It is a text.
    Is(String),
    /// It is a text with half characters, of which this is the first. They were replaced.
    Cut(String, Half),
    /// It is something else.
    IsNot,
}

/// The message for a member that is not a text.
pub const MUST_BE: &str = "must be a string";

impl Text {
    /// Reads a JSON value.
    pub fn read(json: &RawValue) -> Self {
        match JsonText::read(json) {
            Some(JsonText { text, half: None }) => Self::Is(text),
            Some(JsonText {
                text,
                half: Some(half),
            }) => Self::Cut(text, half),
            None => Self::IsNot,
        }
    }

    /// The text, if there is one, without half characters.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Is(text) | Self::Cut(text, _) => Some(text),
            Self::IsNot => None,
        }
    }

    /// The same, by value.
    pub fn into_string(self) -> Option<String> {
        match self {
            Self::Is(text) | Self::Cut(text, _) => Some(text),
            Self::IsNot => None,
        }
    }

    /// The text as it came, or why it cannot be used.
    pub fn whole(&self) -> Result<&str, NoText> {
        match self {
            Self::Is(text) => Ok(text),
            Self::Cut(_, half) => Err(NoText::Half(*half)),
            Self::IsNot => Err(NoText::OtherType),
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Is(text)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(Self::read)
    }
}

/// Reads a text to judge, as serde reads a `String`.
pub fn judged<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = Text::deserialize(deserializer)?;
    text.into_string().ok_or_else(|| D::Error::custom(MUST_BE))
}

/// The same, for a text that can be omitted.
pub fn optional_judged<'de, D>(deserializer: D) -> Result<Option<String>, D::Error>
where
    D: Deserializer<'de>,
{
    let text = Option::<Text>::deserialize(deserializer)?;
    let text = text.map(|text| text.into_string().ok_or_else(|| D::Error::custom(MUST_BE)));
    text.transpose()
}

impl Type for Text {
    const IS_REQUIRED: bool = true;
    type RawValueType = String;
    type RawElementValueType = String;

    fn name() -> Cow<'static, str> {
        String::name()
    }

    fn schema_ref() -> MetaSchemaRef {
        String::schema_ref()
    }

    fn as_raw_value(&self) -> Option<&String> {
        match self {
            Self::Is(text) | Self::Cut(text, _) => Some(text),
            Self::IsNot => None,
        }
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a String> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_no_text_is_read_to_its_end() {
        for json in ["1", "-1", "1.5", "true", "[1, [2]]", r#"{"a": {"b": []}}"#] {
            let members: (Text, Text) =
                serde_json::from_str(&format!(r#"[{json}, "after"]"#)).unwrap();
            assert_eq!(members, (Text::IsNot, Text::Is("after".into())), "{json}");
        }
        let absent: Option<Text> = serde_json::from_str("null").unwrap();
        assert_eq!(absent, None);
        assert!(serde_json::from_str::<Text>("[1").is_err());
    }

    #[test]
    fn a_text_is_told_from_one_that_was_cut() {
        let read = |json: &str| serde_json::from_str::<Text>(json).unwrap();
        assert_eq!(read(r#""\\ud83d""#), Text::Is(r"\ud83d".into()));
        assert_eq!(read(r#""\ud83d\ude00""#), Text::Is("😀".into()));
        let cut = read(r#""a\ud83d""#);
        assert_eq!(cut, Text::Cut("a\u{fffd}".into(), Half::Last));
        assert_eq!(cut.as_str(), Some("a\u{fffd}"));
        assert_eq!(cut.whole(), Err(NoText::Half(Half::Last)));
        for json in [r#""\ud83""#, r#""\ud83g""#, r#""\x""#, "\"\n\"", r#""a"#] {
            assert!(serde_json::from_str::<Text>(json).is_err(), "{json}");
        }
    }
}
