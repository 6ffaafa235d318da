//! Members of requests and answers that have a type of their own. Serde reads them, they are
//! checked while they are read, and the document shows them as what they are.

mod domain_types;
mod time;

use std::{borrow::Cow, ops::Deref};

use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;

pub use time::Time;

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

// Requests and answers go through serde. But object types with such members also derive poem's own
// conversions, and these need the following two.

impl<T: Described + Serialize> ToJSON for Field<T> {
    fn to_json(&self) -> Option<Value> {
        serde_json::to_value(&self.0).ok()
    }
}

impl<T: Described + de::DeserializeOwned> ParseFromJSON for Field<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default()).map_err(ParseError::custom)
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
}
