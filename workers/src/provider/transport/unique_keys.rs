//! JSON objects in which each member occurs once. With two members of one name, it is not defined
//! which of them counts, and the second could hide the first.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};

/// Reads an object, for `#[serde(deserialize_with)]`.
///
/// # Errors
/// It is not an object, or a member occurs twice.
pub(crate) fn unique_keys<'de, D, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Ord,
    V: Deserialize<'de>,
{
    deserializer.deserialize_map(Once(PhantomData))
}

struct Once<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Once<K, V> {
    type Value = BTreeMap<K, V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
        let mut members = BTreeMap::new();
        while let Some((name, value)) = object.next_entry()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a member is there twice"));
            }
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_is_there_twice_is_refused_whatever_it_says() {
        let read = |text: &str| {
            let mut deserializer = serde_json::Deserializer::from_str(text);
            unique_keys::<_, String, Option<f64>>(&mut deserializer)
        };
        let expected = BTreeMap::from([("a".to_owned(), Some(0.5)), ("b".to_owned(), None)]);
        assert_eq!(read(r#"{"a":0.5,"b":null}"#).unwrap(), expected);
        for text in [
            r#"{"a":0.97,"a":0.01}"#,
            r#"{"a":0.5,"b":0,"a":0.5}"#,
            r#"{"a":null,"a":0.5}"#,
            r#"{"a":0.5,"\u0061":0}"#,
            "[]",
            "null",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
