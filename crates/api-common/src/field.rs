//! Members of requests and answers that have a type of their own. Serde reads them, they are
//! checked while they are read, and the document shows them as what they are.

mod domain_types;

use std::{borrow::Cow, ops::Deref, str::FromStr};

use chrono::{DateTime, Utc};
use domain::event;
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::Type,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// A type that the document describes.
pub trait Described: Send + Sync {
    /// The name of its schema in the document. Generated code uses this name everywhere. A type
    /// without a name is written out in each place.
    const NAME: Option<&str> = None;

    /// What a value must be. The text follows "must be".
    fn expected() -> String;

    /// How the document shows it.
    fn schema() -> MetaSchema;

    /// The named schema, or the schema itself.
    fn reference() -> MetaSchemaRef {
        match Self::NAME {
            Some(name) => MetaSchemaRef::Reference(name.to_owned()),
            None => MetaSchemaRef::Inline(Box::new(Self::schema())),
        }
    }

    /// Adds the named schema to the document.
    fn declare(registry: &mut Registry)
    where
        Self: Sized,
    {
        if let Some(name) = Self::NAME {
            registry.create_schema::<Self, _>(name.to_owned(), |_| Self::schema());
        }
    }
}

/// A member of this type. Code that holds one does not check it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Field<T>(pub T);

impl<T> Deref for Field<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Described + de::DeserializeOwned> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Text that is not JSON at all gets the error of the JSON parser.
        let value = Value::deserialize(deserializer)?;
        T::deserialize(value)
            .map(Self)
            .map_err(|_| de::Error::custom(format_args!("must be {}", T::expected())))
    }
}

impl<T: Described> Type for Field<T> {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        T::schema().ty.into()
    }

    fn schema_ref() -> MetaSchemaRef {
        T::reference()
    }

    fn register(registry: &mut Registry) {
        T::declare(registry);
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

/// Reads a member that is present, even if it is null. With `#[serde(default)]`, an absent member
/// is `None`, so the two can be told apart.
pub fn given<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// What was given, or else this.
pub fn or<T>(given: Option<Field<T>>, otherwise: T) -> T {
    given.map_or(otherwise, |given| given.0)
}

/// What was given, which may be null, or else this.
pub fn or_null<T>(given: Option<Option<Field<T>>>, otherwise: Option<T>) -> Option<T> {
    given.map_or(otherwise, |given| given.map(|given| given.0))
}

/// A time: RFC 3339, any offset when it is read, UTC and microseconds when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub DateTime<Utc>);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&event::timestamp(self.0))
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl FromStr for Time {
    type Err = chrono::ParseError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        DateTime::parse_from_rfc3339(text).map(|time| Self(time.to_utc()))
    }
}

impl From<DateTime<Utc>> for Field<Time> {
    fn from(time: DateTime<Utc>) -> Self {
        Self(Time(time))
    }
}

impl Described for Time {
    fn expected() -> String {
        "a time such as 2026-01-31T12:00:00Z".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new_with_format("string", "date-time")
    }
}

#[cfg(test)]
mod tests {
    use domain::{bounded_integer::BoundedInteger, plan::SubscriptionState};

    use super::*;

    #[test]
    fn a_member_says_what_it_must_be() {
        let refused = |json: &str| {
            serde_json::from_str::<Field<BoundedInteger<1, 100>>>(json)
                .unwrap_err()
                .to_string()
        };
        for json in ["0", "101", "1.5", "\"7\"", "null", "[]"] {
            assert_eq!(
                refused(json),
                "must be a whole number from 1 to 100",
                "{json}"
            );
        }
        assert!(refused("\"7").contains("EOF"));
        let state = serde_json::from_str::<Field<SubscriptionState>>("\"x\"").unwrap_err();
        assert_eq!(
            state.to_string(),
            "must be one of `active`, `past_due`, `cancelled`"
        );
    }

    #[test]
    fn times_are_read_with_any_offset_and_written_in_utc() {
        let time: Field<Time> = serde_json::from_str(r#""2026-01-31T13:00:00.5+01:00""#).unwrap();
        let written = serde_json::to_string(&time).unwrap();
        assert_eq!(written, r#""2026-01-31T12:00:00.500000Z""#);
        for text in [
            "",
            "2026-01-31",
            "2026-01-31 12:00:00",
            "2026-02-30T00:00:00Z",
            "now",
        ] {
            assert!(text.parse::<Time>().is_err(), "{text:?}");
        }
    }
}
