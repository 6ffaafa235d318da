//! Reads the list of rules, one rule at a time. Mistakes are recorded, and reading goes on.

use std::{fmt, marker::PhantomData};

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use super::{
    InputRule, InputRules,
    kind::{self, MEMBERS, Members},
    member::{Member, Placing, Unplaced},
};
use crate::rules::{
    MAX_RULES,
    error::{Place, RuleErrors},
};

/// Answers everything that a visitor does not expect.
macro_rules! anything_else {
    ($answer:expr) => {
        fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
            Ok($answer)
        }

        fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
            Ok($answer)
        }

        fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
            Ok($answer)
        }

        fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
            Ok($answer)
        }

        fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
            Ok($answer)
        }

        fn visit_bytes<E>(self, _: &[u8]) -> Result<Self::Value, E> {
            Ok($answer)
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($answer)
        }

        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok($answer)
        }
    };
}

impl<'de> Deserialize<'de> for InputRules {
    /// Fails only if the text is not JSON.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RulesReader::<Unplaced>::read(deserializer)
    }
}

/// Reads rules from a text whose places are known as `P` says.
pub(crate) struct RulesReader<P>(pub(crate) InputRules, PhantomData<fn() -> P>);

impl<P: Placing> RulesReader<P> {
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<InputRules, D::Error> {
        deserializer.deserialize_any(RulesVisitor::<P>(PhantomData))
    }
}

impl<'de, P: Placing> Deserialize<'de> for RulesReader<P> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Self::read(deserializer)?, PhantomData))
    }
}

struct RulesVisitor<P>(PhantomData<fn() -> P>);

impl<'de, P: Placing> Visitor<'de> for RulesVisitor<P> {
    type Value = InputRules;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rules")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<InputRules, A::Error> {
        let mut input = InputRules::default();
        let mut errors = 0;
        // Rules whose mistakes would not be listed are skipped. Rules over the limit are only
        // counted.
        while errors <= RuleErrors::MOST && input.count < MAX_RULES {
            let Some(item) = items.next_element::<P::Of<RuleReader<P>>>()? else {
                return Ok(input);
            };
            let (RuleReader(read, _), place) = P::apart(item);
            let rule = read.finish(place);
            errors += rule.errors.len();
            input.rules.push(rule);
            input.count += 1;
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            input.count += 1;
        }
        input.cut = errors > RuleErrors::MOST;
        Ok(input)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<InputRules, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(no_list())
    }

    anything_else!(no_list());
}

fn no_list() -> InputRules {
    let mut input = InputRules::default();
    input.add_fault("rules", "must be a list of rules", None);
    input
}

/// The name of a member.
enum Name {
    Known(&'static str),
    /// Its beginning. The author chose it, so it may be long.
    Unknown(String),
}

struct NameSeed;

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

/// A rule while it is read.
struct RuleReader<P>(Read, PhantomData<fn() -> P>);

/// What was found in the place of a rule.
enum Read {
    Rule(Members),
    Else,
}

impl Read {
    fn finish(self, place: Option<Place>) -> InputRule {
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

struct RuleVisitor<P>(PhantomData<fn() -> P>);

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
