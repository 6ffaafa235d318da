//! Reads one rule: its members, or whatever is in its place.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::member_name::{Name, NameSeed};
use crate::rules::error::Place;
use crate::rules::input::InputRule;
use crate::rules::input::kind;
use crate::rules::input::line_numbers::Placing;
use crate::rules::input::member::Member;
use crate::rules::input::members::Members;

/// A rule while it is read.
pub(super) struct RuleReader<P>(pub(super) Read, pub(super) PhantomData<fn() -> P>);

/// What was found in the place of a rule.
pub(super) enum Read {
    Rule(Members),
    Else,
}

impl Read {
    pub(super) fn finish(self, place: Option<Place>) -> InputRule {
        match self {
            Self::Rule(members) => members.into_rule(place),
            Self::Else => {
                let mut rule = InputRule {
                    place,
                    ..InputRule::default()
                };
                rule.add_fault("", kind::NO_RULE, None);
                rule
            }
        }
    }
}

impl<'de, P: Placing> Deserialize<'de> for RuleReader<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = deserializer.deserialize_any(RuleVisitor::<P>(PhantomData))?;
        Ok(Self(read, PhantomData))
    }
}

struct RuleVisitor<P>(pub(super) PhantomData<fn() -> P>);

impl<'de, P: Placing> Visitor<'de> for RuleVisitor<P> {
    type Value = Read;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a rule")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Read, A::Error> {
        let mut members = Members::default();
        while let Some(name) = entries.next_key_seed(NameSeed)? {
            match name {
                Name::Known(name) => {
                    let (member, place) = P::apart(entries.next_value::<P::Of<Member<P>>>()?);
                    members.add(name, member.input, place);
                }
                Name::Unknown(name) => {
                    let (IgnoredAny, place) = P::apart(entries.next_value::<P::Of<IgnoredAny>>()?);
                    members.add_unknown(name, place);
                }
            }
        }
        Ok(Read::Rule(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Read, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Read::Else)
    }

    anything_else!(Read::Else);
}
