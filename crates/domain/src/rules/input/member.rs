//! One member of a rule: any value, with its place.

use std::{fmt, marker::PhantomData};

use serde::de::{
    Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_saphyr::Spanned;

use crate::rules::{
    MAX_DOMAINS, MAX_KEYWORDS,
    error::{Place, RuleErrors},
};

/// The longest list that any rule may have, plus one item that shows that there are too many.
const MOST_ITEMS: usize = if MAX_KEYWORDS > MAX_DOMAINS {
    MAX_KEYWORDS + 1
} else {
    MAX_DOMAINS + 1
};

/// The value of a member.
#[derive(Debug)]
pub(crate) enum InputValue {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(List),
    Object,
}

/// The texts of a list. For an item that is not a text, `texts` has an empty one, and `wrong` has
/// its place in the list, up to the number of mistakes that are listed.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(super) texts: Vec<String>,
    pub(super) wrong: Vec<(usize, Option<Place>)>,
}

/// A member as it was read.
pub(crate) struct Member<P> {
    pub(crate) input: InputValue,
    placing: PhantomData<fn() -> P>,
}

impl<P> From<InputValue> for Member<P> {
    fn from(input: InputValue) -> Self {
        Self {
            input,
            placing: PhantomData,
        }
    }
}

impl<'de, P: Placing> Deserialize<'de> for Member<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MemberVisitor(PhantomData))
    }
}

struct MemberVisitor<P>(PhantomData<P>);

impl<'de, P: Placing> Visitor<'de> for MemberVisitor<P> {
    type Value = Member<P>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Member<P>, E> {
        Ok(InputValue::Bool(value).into())
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "of numbers, only those from 0 to 1 are valid anywhere"
    )]
    fn visit_i64<E>(self, value: i64) -> Result<Member<P>, E> {
        Ok(InputValue::Number(value as f64).into())
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "of numbers, only those from 0 to 1 are valid anywhere"
    )]
    fn visit_u64<E>(self, value: u64) -> Result<Member<P>, E> {
        Ok(InputValue::Number(value as f64).into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Member<P>, E> {
        Ok(InputValue::Number(value).into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Member<P>, E> {
        Ok(InputValue::Text(value.to_owned()).into())
    }

    fn visit_string<E>(self, value: String) -> Result<Member<P>, E> {
        Ok(InputValue::Text(value).into())
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Member<P>, E> {
        Ok(InputValue::Object.into())
    }

    fn visit_unit<E>(self) -> Result<Member<P>, E> {
        Ok(InputValue::Null.into())
    }

    fn visit_none<E>(self) -> Result<Member<P>, E> {
        Ok(InputValue::Null.into())
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<Member<P>, D::Error> {
        Member::deserialize(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Member<P>, A::Error> {
        let mut list = List::default();
        while list.texts.len() < MOST_ITEMS {
            let Some(item) = items.next_element::<P::Of<Member<Unplaced>>>()? else {
                return Ok(InputValue::List(list).into());
            };
            let (item, place) = P::apart(item);
            if let InputValue::Text(text) = item.input {
                list.texts.push(text);
                continue;
            }
            if list.wrong.len() <= RuleErrors::MOST {
                list.wrong.push((list.texts.len(), place));
            }
            list.texts.push(String::new());
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(InputValue::List(list).into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Member<P>, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(InputValue::Object.into())
    }
}

/// The message for an unknown member, with the names of the known ones.
pub(crate) fn unknown_member(of: &str, members: &[&str]) -> String {
    let members: Vec<String> = members.iter().map(|name| format!("`{name}`")).collect();
    format!("is not a member of {of}, which has {}", members.join(", "))
}

/// Whether the text has places.
pub(crate) trait Placing: 'static {
    /// A value, with its place if there is one.
    type Of<T: DeserializeOwned>: DeserializeOwned;

    fn apart<T: DeserializeOwned>(of: Self::Of<T>) -> (T, Option<Place>);
}

/// JSON: the path is enough.
#[derive(Debug)]
pub(crate) struct Unplaced;

/// YAML, which people write by hand.
#[derive(Debug)]
pub(crate) struct InYaml;

impl Placing for Unplaced {
    type Of<T: DeserializeOwned> = T;

    fn apart<T: DeserializeOwned>(value: T) -> (T, Option<Place>) {
        (value, None)
    }
}

impl Placing for InYaml {
    type Of<T: DeserializeOwned> = Spanned<T>;

    fn apart<T: DeserializeOwned>(of: Spanned<T>) -> (T, Option<Place>) {
        let place = Place {
            line: of.referenced.line(),
            column: of.referenced.column(),
        };
        (of.value, Some(place))
    }
}
