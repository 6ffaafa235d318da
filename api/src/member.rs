//! Members of requests and answers that have a type of their own: read by serde, checked while they are read, and shown
//! by the document as what they are.

use std::{borrow::Cow, ops::Deref, str::FromStr};

use chrono::{DateTime, Utc};
use domain::{
    audit::Action,
    backtest::Decided,
    chain::State,
    email::Email,
    event::{self, EventKind},
    id::{
        GroupVersionId, LinkId, MediaId, MemberId, PlanId, RuleGroupId, SessionId, SiteId, TeamId,
        TokenId,
    },
    image::ImageFormat,
    image_hash::{HashAlgorithm, ListKind, Pdq, Sha256Digest},
    media::{ContentType, Modality, ModerationType, OnFailure, Ruling, Status, StatusVocabulary},
    name::Name,
    plan::SubscriptionState,
    policy::Policy,
    reason::Reason,
    recovery::RecoveryKind,
    role::Role,
    scope::Scope,
    score::{Category, Scores},
    webhook::DeliveryStatus,
    whole::Whole,
};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;
use uuid::Uuid;

/// A type of which the document has something to say.
pub(crate) trait Described: Send + Sync {
    /// The name under which the document shows it. Generated code calls it so wherever it stands. Without one, it is
    /// shown anew in each place.
    const NAME: Option<&str> = None;

    /// What a value must be, to be read after "must be".
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

/// A member of this type. Code that holds one need not check it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(crate) struct Member<T>(pub(crate) T);

impl<T> Deref for Member<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<'de, T: Described + de::DeserializeOwned> Deserialize<'de> for Member<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What is no JSON at all is refused as that.
        let value = Value::deserialize(deserializer)?;
        T::deserialize(value)
            .map(Self)
            .map_err(|_| de::Error::custom(format_args!("must be {}", T::expected())))
    }
}

impl<T: Described> Type for Member<T> {
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

// The object types that have such members derive poem's own conversions, which need these two; requests and answers go
// through serde.

impl<T: Described + Serialize> ToJSON for Member<T> {
    fn to_json(&self) -> Option<Value> {
        serde_json::to_value(&self.0).ok()
    }
}

impl<T: Described + de::DeserializeOwned> ParseFromJSON for Member<T> {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default()).map_err(ParseError::custom)
    }
}

/// Reads a member that is there, null included, so that an absent one can be told from it: with `#[serde(default)]`, an
/// absent one is none.
pub(crate) fn given<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// A time: RFC 3339, any offset when it is read, UTC and microseconds when it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) DateTime<Utc>);

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

impl From<DateTime<Utc>> for Member<Time> {
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

impl Described for Name {
    fn expected() -> String {
        format!(
            "a text of 1 to {} characters, without control characters and without white space at its ends",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for Email {
    fn expected() -> String {
        format!(
            "an e-mail address of at most {} ASCII characters, such as ada@example.com",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            max_length: Some(Self::LONGEST),
            pattern: Some(Self::PATTERN.to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for Reason {
    fn expected() -> String {
        format!(
            "a text of 1 to {} characters, without NUL and not only white space",
            Self::LONGEST
        )
    }

    fn schema() -> MetaSchema {
        MetaSchema {
            min_length: Some(1),
            max_length: Some(Self::LONGEST),
            pattern: Some(r"^[^\x00]*[^\s\x00][^\x00]*$".to_owned()),
            ..MetaSchema::new("string")
        }
    }
}

impl Described for Policy {
    fn expected() -> String {
        format!(
            "a text of 1 to {} bytes, without NUL and not only white space",
            Self::LONGEST
        )
    }

    /// A schema counts characters: what has more of them has more bytes, too.
    fn schema() -> MetaSchema {
        MetaSchema {
            max_length: Some(Self::LONGEST),
            ..Reason::schema()
        }
    }
}

impl<const MIN: i64, const MAX: i64> Described for Whole<MIN, MAX> {
    fn expected() -> String {
        format!("a whole number from {MIN} to {MAX}")
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "bounds are numbers that JSON holds exactly"
    )]
    fn schema() -> MetaSchema {
        MetaSchema {
            minimum: Some(MIN as f64),
            maximum: Some(MAX as f64),
            ..MetaSchema::new_with_format("integer", "int64")
        }
    }
}

impl Described for Uuid {
    fn expected() -> String {
        "a UUID".to_owned()
    }

    fn schema() -> MetaSchema {
        MetaSchema::new_with_format("string", "uuid")
    }
}

macro_rules! ids {
    ($($name:ident),+ $(,)?) => {$(
        impl Described for $name {
            fn expected() -> String {
                Uuid::expected()
            }

            fn schema() -> MetaSchema {
                <Uuid as Described>::schema()
            }
        }
    )+};
}

ids!(
    GroupVersionId,
    LinkId,
    MediaId,
    MemberId,
    PlanId,
    RuleGroupId,
    SessionId,
    SiteId,
    TeamId,
    TokenId
);

macro_rules! hashes {
    ($($name:ident),+ $(,)?) => {$(
        impl Described for $name {
            fn expected() -> String {
                "64 hexadecimal digits".to_owned()
            }

            fn schema() -> MetaSchema {
                MetaSchema {
                    pattern: Some("^[0-9A-Fa-f]{64}$".to_owned()),
                    ..MetaSchema::new("string")
                }
            }
        }
    )+};
}

hashes!(Pdq, Sha256Digest);

impl Described for Scores {
    const NAME: Option<&str> = Some("Scores");

    fn expected() -> String {
        let names = Category::ALL.map(|category| format!("`{category}`"));
        format!(
            "an object of scores from 0 to 1 by category: {}",
            names.join(", ")
        )
    }

    fn schema() -> MetaSchema {
        let score = || MetaSchema {
            minimum: Some(0.0),
            maximum: Some(1.0),
            ..MetaSchema::new("number")
        };
        let of = |category: Category| {
            let score = MetaSchemaRef::Inline(Box::new(score()));
            (category.as_str(), score)
        };
        MetaSchema {
            description: Some("Scores from 0 to 1 by category."),
            properties: Category::ALL.map(of).into(),
            ..MetaSchema::new("object")
        }
    }
}

macro_rules! named_sets {
    ($($set:ident as $name:literal: $description:literal),+ $(,)?) => {$(
        impl Described for $set {
            const NAME: Option<&str> = Some($name);

            fn expected() -> String {
                let names: Vec<String> = Self::ALL.iter().map(|member| format!("`{member}`")).collect();
                format!("one of {}", names.join(", "))
            }

            fn schema() -> MetaSchema {
                MetaSchema {
                    description: Some($description),
                    enum_items: Self::ALL.iter().map(|member| member.as_str().into()).collect(),
                    ..MetaSchema::new("string")
                }
            }
        }
    )+};
}

named_sets!(
    Action as "AuditAction": "What the audit log records.",
    Category as "Category": "What content can be scored for.",
    ContentType as "ContentType": "`image` as soon as there is an image, else `text`.",
    Decided as "HumanDecision": "What a moderator decided about an item, if one did.",
    DeliveryStatus as "DeliveryStatus": "The state of a delivery.",
    EventKind as "EventKind": "The kind of an event.",
    HashAlgorithm as "HashAlgorithm": "How images are compared: exactly, or by how they look.",
    ImageFormat as "ImageFormat": "The format of an image.",
    ListKind as "HashListKind": "What it means that an image is on the list.",
    Modality as "Modality": "The part of an item that was analysed.",
    ModerationType as "ModerationType": "Who or what decided.",
    OnFailure as "OnFailure": "What happens to an item that could not be checked completely.",
    RecoveryKind as "RecoveryKind": "Which deliveries are sent again.",
    Role as "Role": "What a person may do in a team, or on the whole instance.",
    Ruling as "Decision": "What a moderator decides.",
    Scope as "Scope": "What a token may do.",
    State as "JobState": "The state of a job that runs in the background.",
    Status as "Status": "The state of a media item.",
    StatusVocabulary as "StatusVocabulary": "How the status endpoint spells the states of decided items.",
    SubscriptionState as "SubscriptionState": "The state of a subscription.",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_any_offset_and_written_in_utc() {
        let time: Member<Time> = serde_json::from_str(r#""2026-01-31T13:00:00.5+01:00""#).unwrap();
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

    #[test]
    fn a_member_says_what_it_must_be() {
        let refused = |json: &str| {
            serde_json::from_str::<Member<Whole<1, 100>>>(json)
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
        let state = serde_json::from_str::<Member<SubscriptionState>>("\"x\"").unwrap_err();
        assert_eq!(
            state.to_string(),
            "must be one of `active`, `past_due`, `cancelled`"
        );
    }
}
