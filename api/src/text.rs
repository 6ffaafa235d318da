//! Texts in public requests. A value that is not a text is reported after the key is checked and
//! the request is counted, like all other mistakes in a submission: a request with a valid key
//! always counts.

use std::{borrow::Cow, fmt};

use poem_openapi::{
    registry::MetaSchemaRef,
    types::{ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

/// A member that should be a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// It is a text.
    Is(String),
    /// It is something else.
    IsNot,
}

/// The message for a member that is not a text.
pub(crate) const MUST_BE: &str = "must be a string";

impl Text {
    /// The text, if there is one.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Is(text) => Some(text),
            Self::IsNot => None,
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
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Text;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Text, E> {
        Ok(Text::Is(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Text, E> {
        Ok(Text::Is(text))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Text, E> {
        Ok(Text::IsNot)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Text, E> {
        Ok(Text::IsNot)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Text, E> {
        Ok(Text::IsNot)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Text, E> {
        Ok(Text::IsNot)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Text, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Text::IsNot)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Text, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Text::IsNot)
    }
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
            Self::Is(text) => Some(text),
            Self::IsNot => None,
        }
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a String> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

// The object types that have such members derive poem's own conversions, which need these two; requests go through serde.

impl ToJSON for Text {
    fn to_json(&self) -> Option<Value> {
        self.as_str().map(Value::from)
    }
}

impl ParseFromJSON for Text {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        Ok(match value {
            Some(Value::String(text)) => Self::Is(text),
            _ => Self::IsNot,
        })
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
}
