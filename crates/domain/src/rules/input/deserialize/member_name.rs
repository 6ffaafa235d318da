//! The name of a member, known or not.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Visitor};

use crate::rules::input::kind::MEMBERS;

/// The name of a member.
pub(super) enum Name {
    Known(&'static str),
    /// Its beginning. The author chose it, so it may be long.
    Unknown(String),
}

pub(super) struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Name, E> {
        const LONGEST: usize = 100;
        let known = MEMBERS.iter().find(|known| **known == name);
        Ok(match (known, name.char_indices().nth(LONGEST)) {
            (Some(known), _) => Name::Known(known),
            (None, Some((cut, _))) => Name::Unknown(format!("{}...", &name[..cut])),
            (None, None) => Name::Unknown(name.to_owned()),
        })
    }
}
