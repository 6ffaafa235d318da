//! The schema of rules: one of several kinds, with `type` as discriminator. It is written by hand,
//! because `domain` parses rules and knows no documents. A test compares the two.

use api_common::openapi::{described_reference, extend};
use domain::rules::{MAX_EXCEPTIONS, MAX_LISTS, MAX_NAME_CHARS, MAX_PATTERN_CHARS, MAX_TERM_CHARS};
use serde_json::{Map, Value, json};

use crate::example_values;

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

/// The members of one kind only, and which of them are required.
fn members(kind: &str) -> (Value, Vec<&'static str>) {
    let effect = one_of(
        "Effect",
        "What a match means: the content is rejected, or a person must review it.",
    );
    let mut matching = one_of(
        "Matching",
        "Whether keywords match whole words only, or parts of words, too.",
    );
    matching["default"] = "whole_word".into();
    let mut bare = one_of(
        "BareNames",
        "Which names without a scheme count as links: `likely` ones (no names of files, no sentences that lack a \
         space), `any` whose ending is on the public suffix list, or `none` unless it begins with `www.`. It \
         matters only with `allow`. A denied domain is always found. If it is `likely`, answers omit it.",
    );
    bare["default"] = "likely".into();
    let threshold = |what: &str| {
        json!({
            "type": "number",
            "nullable": true,
            "minimum": 0,
            "maximum": 1,
            "description": format!("From this score on, {what}."),
        })
    };
    match kind {
        "keyword" => (
            json!({
                "keywords": {
                    "type": "array",
                    "minItems": 1,
                    "items": { "type": "string", "minLength": 1, "maxLength": MAX_TERM_CHARS },
                    "description": "The words and phrases. Case, accents, look-alikes, spacing and the like make no difference.",
                },
                "matching": matching,
                "effect": effect,
            }),
            vec!["keywords", "effect"],
        ),
        "regex" => (
            json!({
                "pattern": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_PATTERN_CHARS,
                    "description": "A pattern in the syntax of Rust's `regex` crate. It is case-sensitive unless it contains \
                                    `(?i)`. It must not match the empty text.",
                },
                "effect": effect,
            }),
            vec!["pattern", "effect"],
        ),
        "link" => (
            json!({
                "policy": one_of(
                    "LinkPolicy",
                    "With `deny`, a text must not name these domains. With `allow`, it must not link to any \
                     other domains.",
                ),
                "domains": {
                    "type": "array",
                    "items": { "type": "string", "minLength": 1 },
                    "description": "Domains or IP addresses. A domain includes all names under it.",
                },
                "bare": bare,
                "effect": effect,
            }),
            vec!["policy", "domains", "effect"],
        ),
        "image_hash" => (
            json!({
                "lists": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": MAX_LISTS,
                    "uniqueItems": true,
                    "items": { "type": "string", "format": "uuid" },
                    "description": "Hash lists of the team, or shared ones. Each list says which kind it is, and by how \
                                    many bits an image may differ from its entries.",
                },
                "effect": effect,
            }),
            vec!["lists", "effect"],
        ),
        _ => (
            json!({
                "category": one_of("Category", "The category whose score counts."),
                "review_at": threshold("a person must review the content"),
                "reject_at": threshold("the content is rejected"),
            }),
            vec!["category"],
        ),
    }
}

/// A rule of each kind, in the order of the kinds.
pub(crate) fn examples() -> Vec<Value> {
    vec![
        json!({
            "name": "Blocked words",
            "type": "keyword",
            "keywords": ["blockedword"],
            "exceptions": ["unblockedwords"],
            "effect": "reject",
        }),
        json!({ "name": "Review codes", "type": "regex", "pattern": r"review-\d{4}", "effect": "review" }),
        json!({
            "name": "Link shorteners",
            "type": "link",
            "policy": "deny",
            "domains": ["short.example"],
            "effect": "review",
        }),
        json!({
            "name": "Violence",
            "type": "ai_threshold",
            "category": "violence",
            "review_at": 0.5,
            "reject_at": 0.8,
        }),
        json!({
            "name": "Known images",
            "type": "image_hash",
            "lists": [example_values::HASH_LIST],
            "effect": "reject",
        }),
    ]
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
