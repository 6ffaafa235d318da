//! Rules as requests give them and answers show them: one flat document each, told apart by `type`.

use std::{borrow::Cow, collections::HashMap};

use domain::{
    id::RuleId,
    rule_file::Entry,
    rules::{MAX_RULES, Rule},
};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::{ParseError, ParseFromJSON, ParseResult, ToJSON, Type},
};
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use uuid::Uuid;

use super::schema;
use crate::problem::Refusal;

/// A rule.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(in super::super) struct RuleDocument(pub(super) Entry);

impl From<Rule> for RuleDocument {
    fn from(rule: Rule) -> Self {
        Self(rule.into())
    }
}

impl<'de> Deserialize<'de> for RuleDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // What is no JSON at all is refused as that.
        let value = Value::deserialize(deserializer)?;
        // serde would take a number for the place of a kind among the kinds.
        if value.get("type").is_some_and(|kind| !kind.is_string()) {
            return Err(de::Error::custom("is no rule: its `type` must be a string"));
        }
        Entry::deserialize(value)
            .map(Self)
            .map_err(|error| de::Error::custom(said_of(&error)))
    }
}

/// What is wrong with a rule, without the value that it has instead.
fn said_of(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.split_once(", expected ") {
        Some((said, expected)) if said.starts_with("unknown") => {
            format!("is no rule: {said}; there are {expected}")
        }
        Some((_, expected)) => format!("is no rule: one of its members must be {expected}"),
        None => format!("is no rule: {message}"),
    }
}

/// The rules, those without an id under new ones.
///
/// # Errors
/// There are too many, or two have one id.
pub(super) fn with_ids(documents: Vec<RuleDocument>) -> Result<Vec<Rule>, Refusal> {
    if documents.len() > MAX_RULES {
        let message = format!("must be at most {MAX_RULES}");
        return Err(Refusal::invalid_field("rules", message));
    }
    let mut places: HashMap<RuleId, usize> = HashMap::with_capacity(documents.len());
    let mut rules = Vec::with_capacity(documents.len());
    for (place, RuleDocument(entry)) in documents.into_iter().enumerate() {
        let rule = entry.into_rule(|| Uuid::now_v7().into());
        if let Some(first) = places.insert(rule.id, place) {
            let message = format!("is that of rules[{first}]; leave it out to get a new one");
            return Err(Refusal::invalid_field(
                format!("rules[{place}].id"),
                message,
            ));
        }
        rules.push(rule);
    }
    Ok(rules)
}

pub(super) fn documents(rules: Vec<Rule>) -> Vec<RuleDocument> {
    rules.into_iter().map(RuleDocument::from).collect()
}

impl Type for RuleDocument {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        schema::RULE.into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference(schema::RULE.to_owned())
    }

    /// Its place; what stands there is written by [`schema::declare`].
    fn register(registry: &mut Registry) {
        let place = MetaSchema::new("object");
        registry.schemas.insert(schema::RULE.to_owned(), place);
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

// The object types that have rules derive poem's own conversions, which need these two; requests and answers go through
// serde.

impl ToJSON for RuleDocument {
    fn to_json(&self) -> Option<Value> {
        serde_json::to_value(&self.0).ok()
    }
}

impl ParseFromJSON for RuleDocument {
    fn parse_from_json(value: Option<Value>) -> ParseResult<Self> {
        serde_json::from_value(value.unwrap_or_default()).map_err(ParseError::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mistake_is_told_without_the_value() {
        for (rule, said) in [
            (
                json!({ "name": "a", "type": "magic" }),
                "unknown variant `magic`",
            ),
            (json!({ "name": "a" }), "missing field `type`"),
            (
                json!({ "name": "a", "type": 0, "keywords": ["x"], "effect": "reject" }),
                "must be a string",
            ),
            (
                json!({ "name": "a", "type": "regex", "pattern": "x", "effect": "reject", "flags": 1 }),
                "unknown field `flags`",
            ),
            (
                json!({ "name": "a", "type": "regex", "pattern": 4711, "effect": "reject" }),
                "must be a string",
            ),
        ] {
            let error = serde_json::from_value::<RuleDocument>(rule.clone()).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(said), "{rule}: {message}");
            assert!(!message.contains("4711") && !message.contains(", expected "));
        }
    }

    #[test]
    fn an_id_stays_and_none_is_there_twice() {
        let rule = |id: Option<&str>| -> RuleDocument {
            let rule = json!({ "id": id, "name": "a", "type": "regex", "pattern": "x", "effect": "reject" });
            serde_json::from_value(rule).unwrap()
        };
        let id = "01980f6d-11aa-7bbb-8ccc-0123456789ab";
        let rules = with_ids(vec![rule(Some(id)), rule(None), rule(None)]).unwrap();
        assert_eq!(rules[0].id.to_string(), id);
        assert_ne!(rules[1].id, rules[2].id);
        let (_, _, errors) = with_ids(vec![rule(None), rule(Some(id)), rule(Some(id))])
            .unwrap_err()
            .into_parts();
        assert_eq!(errors[0].field, "rules[2].id");
    }
}
