//! The schema of rules: one of several kinds, with `type` as discriminator. It is written by hand,
//! because `domain` parses rules and knows no documents. A test compares the two.

mod examples;
mod members;

use api_common::openapi::{described_reference, extend};
use domain::rules::{MAX_EXCEPTIONS, MAX_NAME_CHARS, MAX_TERM_CHARS};
use serde_json::{Map, Value, json};

use members::members;

pub(super) use examples::examples;

/// The schema of a rule of any kind.
pub(super) const RULE: &str = "Rule";

/// The kinds: the name of each, of its schema, and what it is.
const KINDS: [(&str, &str, &str); 5] = [
    (
        "keyword",
        "KeywordRule",
        "Words and phrases. They are found behind the usual disguises, too.",
    ),
    (
        "regex",
        "RegexRule",
        "A regular expression that is matched against the text as it was submitted.",
    ),
    (
        "link",
        "LinkRule",
        "Domains that a text may or may not link to.",
    ),
    (
        "ai_threshold",
        "AiThresholdRule",
        "A category's score reaches a threshold. Give at least one of the two; `review_at` must be at most \
         `reject_at`.",
    ),
    (
        "image_hash",
        "ImageHashRule",
        "An image on a deny list violates the rule, unless the image is also on an allow list of the same rule.",
    ),
];

/// The sets that only rules use: the name of each, what is in it, and what it is.
const SETS: [(&str, &[&str], &str); 4] = [
    ("Effect", &["reject", "review"], "What a match means."),
    (
        "Matching",
        &["whole_word", "substring"],
        "Where keywords match.",
    ),
    (
        "LinkPolicy",
        &["deny", "allow"],
        "What a list of domains means.",
    ),
    (
        "BareNames",
        &["likely", "any", "none"],
        "Which names without a scheme count as links.",
    ),
];

/// Adds the schemas.
pub(super) fn declare(document: &mut Value) {
    let mapping: Map<String, Value> = KINDS
        .iter()
        .map(|(kind, name, _)| ((*kind).to_owned(), reference(name)))
        .collect();
    let kinds: Vec<Value> = KINDS
        .iter()
        .map(|(_, name, _)| json!({ "$ref": reference(name) }))
        .collect();
    let rule = json!({
        "description": "A rule of one of these kinds.",
        "oneOf": kinds,
        "discriminator": { "propertyName": "type", "mapping": mapping },
    });
    extend(document, "/components/schemas", json!({ RULE: rule }));
    for (name, values, description) in SETS {
        let set = json!({ "type": "string", "enum": values, "description": description });
        extend(document, "/components/schemas", json!({ name: set }));
    }
    for ((kind, name, description), example) in KINDS.iter().zip(examples()) {
        let (own, required) = members(kind);
        let mut properties = json!({
            "type": { "type": "string", "enum": [kind] },
            "id": {
                "type": "string",
                "format": "uuid",
                "nullable": true,
                "description": "The ID under which verdicts name the rule. It is unique in its group. A rule without an ID \
                                gets a new one. A rule that keeps its ID stays the same rule.",
            },
            "name": {
                "type": "string",
                "minLength": 1,
                "maxLength": MAX_NAME_CHARS,
                "description": "The name of the rule. Applications see it in violations.",
            },
            "enabled": {
                "type": "boolean",
                "default": true,
                "description": "Whether the rule is applied. A disabled rule is checked when you save it, but never applied.",
            },
        });
        if ["keyword", "regex", "link"].contains(kind) {
            properties["exceptions"] = json!({
                "type": "array",
                "maxItems": MAX_EXCEPTIONS,
                "items": { "type": "string", "minLength": 1, "maxLength": MAX_TERM_CHARS },
                "description": "Exceptions: a match that lies completely inside one of these terms does not count.",
            });
        }
        extend(&mut properties, "", own);
        let required: Vec<&str> = ["type", "name"].into_iter().chain(required).collect();
        let schema = json!({
            "type": "object",
            "description": description,
            "required": required,
            "properties": properties,
            "additionalProperties": false,
            "example": example,
        });
        extend(document, "/components/schemas", json!({ *name: schema }));
    }
}

/// A member that is one of a named set.
fn one_of(set: &str, description: &str) -> Value {
    described_reference(set, &description.into())
}

fn reference(name: &str) -> Value {
    format!("#/components/schemas/{name}").into()
}

#[cfg(test)]
mod tests {
    use domain::rule_file::Entry;

    use super::*;
    use crate::rule_groups::rules::RuleDocuments;

    #[test]
    fn every_kind_of_rule_is_described_with_all_its_members() {
        for ((kind, _, _), example) in KINDS.iter().zip(examples()) {
            assert_eq!(example["type"], *kind);
            let entry: Entry = serde_json::from_value(example.clone()).unwrap();
            let written = serde_json::to_value(&entry).unwrap();
            let (own, _) = members(kind);
            for name in written.as_object().unwrap().keys() {
                let common = ["type", "name", "enabled", "exceptions"].contains(&name.as_str());
                assert!(common || own.get(name).is_some(), "{kind}.{name}");
            }
        }
        // For an unknown kind, `domain` lists all kinds. For an unknown member, it lists all
        // members of the kind.
        let told = |rule: Value| {
            let given: RuleDocuments = serde_json::from_value(json!([rule])).unwrap();
            let error = given.into_rules().unwrap_err().all_errors();
            let message = &error.iter().next().unwrap().message;
            let mut named: Vec<String> = message
                .split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect();
            named.sort_unstable();
            named
        };
        let mut kinds = KINDS.map(|(kind, _, _)| kind.to_owned());
        kinds.sort_unstable();
        assert_eq!(told(json!({ "name": "a", "type": "?" })), kinds);
        for ((kind, name, _), mut rule) in KINDS.iter().zip(examples()) {
            let mut document = json!({ "components": { "schemas": {} } });
            declare(&mut document);
            let schema = &document["components"]["schemas"][name]["properties"];
            let described = schema.as_object().unwrap().keys().cloned();
            let mut members: Vec<String> = described.chain([(*kind).to_owned()]).collect();
            members.sort_unstable();
            rule["?"] = json!(1);
            assert_eq!(told(rule), members);
        }
    }
}
