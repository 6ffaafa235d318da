//! Rules in requests and answers: a flat object each, with `type` as discriminator.

use std::borrow::Cow;

use domain::{
    rule_file::Entry,
    rules::{InputRules, MAX_RULES, Rule},
};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::Type,
};
use serde::{Deserialize, Serialize};

use super::rule_schema;

/// A rule, as answers show it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct RuleDocument(Entry);

impl From<Rule> for RuleDocument {
    fn from(rule: Rule) -> Self {
        Self(rule.into())
    }
}

pub(super) fn documents(rules: Vec<Rule>) -> Vec<RuleDocument> {
    rules.into_iter().map(RuleDocument::from).collect()
}

impl Type for RuleDocument {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        rule_schema::RULE.into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Reference(rule_schema::RULE.to_owned())
    }

    /// Only a reference. [`rule_schema::declare`] writes the schema.
    fn register(registry: &mut Registry) {
        let place = MetaSchema::new("object");
        registry.schemas.insert(rule_schema::RULE.to_owned(), place);
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

/// The rules of a request, not checked yet.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct RuleDocuments(pub(super) InputRules);

#[cfg(test)]
impl RuleDocuments {
    /// The rules as a use case takes them.
    pub(super) fn into_rules(self) -> Result<Vec<Rule>, domain::rules::WrongRules> {
        self.0.into_rules(|| uuid::Uuid::now_v7().into())
    }
}

impl Type for RuleDocuments {
    const IS_REQUIRED: bool = true;
    type RawValueType = Self;
    type RawElementValueType = Self;

    fn name() -> Cow<'static, str> {
        format!("array_{}", rule_schema::RULE).into()
    }

    fn schema_ref() -> MetaSchemaRef {
        MetaSchemaRef::Inline(Box::new(MetaSchema {
            items: Some(Box::new(RuleDocument::schema_ref())),
            max_items: Some(MAX_RULES),
            ..MetaSchema::new("array")
        }))
    }

    fn register(registry: &mut Registry) {
        RuleDocument::register(registry);
    }

    fn as_raw_value(&self) -> Option<&Self> {
        Some(self)
    }

    fn raw_element_iter<'a>(&'a self) -> Box<dyn Iterator<Item = &'a Self> + 'a> {
        Box::new(self.as_raw_value().into_iter())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_id_stays_and_none_is_there_twice() {
        let rules = |ids: &[Option<&str>]| {
            let rule = |id: Option<&str>| json!({ "id": id, "name": "a", "type": "regex", "pattern": "x", "effect": "reject" });
            let rules: Vec<Value> = ids.iter().copied().map(rule).collect();
            let given: RuleDocuments = serde_json::from_value(rules.into()).unwrap();
            given.into_rules()
        };
        let id = Some("01980f6d-11aa-7bbb-8ccc-0123456789ab");
        let right = rules(&[id, None, None]).unwrap();
        assert_eq!(Some(right[0].id.to_string().as_str()), id);
        assert_ne!(right[1].id, right[2].id);
        let wrong = rules(&[None, id, id]).unwrap_err().all_errors();
        let paths: Vec<String> = wrong.iter().map(domain::rules::RuleError::path).collect();
        assert_eq!(paths, ["rules[2].id"]);
    }
}
