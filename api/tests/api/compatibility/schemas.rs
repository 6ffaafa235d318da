//! Schemas, compared.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Comparison, Way, members, resolve};

/// Keywords that say which values there may be.
const KEYWORDS: [&str; 18] = [
    "type",
    "nullable",
    "enum",
    "format",
    "pattern",
    "multipleOf",
    "uniqueItems",
    "discriminator",
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];

impl Comparison<'_> {
    pub(super) fn schemas(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        let mut at = at;
        let references = [&old["$ref"], &old["allOf"][0]["$ref"]];
        if let Some(name) = references.into_iter().find_map(Value::as_str) {
            // Told once, wherever it is used; and recursion ends here.
            if !self
                .compared
                .insert((old.to_string(), new.to_string(), way))
            {
                return;
            }
            at = name.rsplit('/').next().unwrap_or(name);
        }
        let (old, new) = (&merged(self.old, old), &merged(self.new, new));
        for keyword in KEYWORDS {
            let (old, new) = (&old[keyword], &new[keyword]);
            let (sender, receiver) = way.ends(old, new);
            let shrunk = keyword == "enum" && !takes(keyword, old, new);
            if shrunk || !takes(keyword, sender, receiver) {
                self.changed(at, keyword, old, new);
            }
        }
        if way == Way::ToService && !old["default"].is_null() {
            self.same(at, old, new, &["default"]);
        }
        self.properties(at, way, old, new);
        if !(old["items"].is_null() && new["items"].is_null()) {
            self.schemas(&format!("{at}[]"), way, &old["items"], &new["items"]);
        }
        self.choices(at, way, &alternatives(old), &alternatives(new));
    }

    fn properties(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        for (name, old, new) in self.kept(at, &old["properties"], &new["properties"]) {
            self.schemas(&format!("{at}.{name}"), way, old, new);
        }
        let required = |schema: &Value| -> BTreeSet<String> {
            let names = schema["required"].as_array().into_iter().flatten();
            names
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect()
        };
        self.requirements(at, way, &required(old), &required(new));
        let (old, new) = (&old["additionalProperties"], &new["additionalProperties"]);
        let (sender, receiver) = way.ends(old, new);
        if receiver == false && sender != false {
            self.changed(at, "additionalProperties", old, new);
        } else if sender.is_object() || receiver.is_object() {
            self.schemas(&format!("{at}.*"), way, old, new);
        }
    }

    /// Values of which one comes: content types, alternatives.
    pub(super) fn choices(&mut self, at: &str, way: Way, old: &Value, new: &Value) {
        for (name, old, new) in self.kept(at, old, new) {
            self.schemas(&format!("{at}, {name}"), way, old, new);
        }
        for (name, _) in members(new) {
            if way == Way::ToClient && old.get(name).is_none() {
                self.found(at, &format!("may now be {name}"));
            }
        }
    }
}

/// Whether a receiver that asks for this takes whatever a sender with that may send. Null is a keyword that is not there.
fn takes(keyword: &str, sender: &Value, receiver: &Value) -> bool {
    let within = |fits: fn(f64, f64) -> bool| match (sender.as_f64(), receiver.as_f64()) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(sender), Some(receiver)) => fits(sender, receiver),
    };
    match keyword {
        "nullable" => sender != true || receiver == true,
        "type" if sender == "integer" && receiver == "number" => true,
        "enum" => match (sender.as_array(), receiver.as_array()) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(sender), Some(receiver)) => sender.iter().all(|value| receiver.contains(value)),
        },
        "maximum" | "maxLength" | "maxItems" | "maxProperties" => within(|sent, most| sent <= most),
        "minimum" | "minLength" | "minItems" | "minProperties" => {
            within(|sent, least| sent >= least)
        }
        _ => receiver.is_null() || receiver == false || receiver == sender,
    }
}

/// The schema with its reference followed and its `allOf` made one.
fn merged(document: &Value, schema: &Value) -> Value {
    let mut whole = resolve(document, schema)
        .as_object()
        .cloned()
        .unwrap_or_default();
    let parts = whole.shift_remove("allOf").unwrap_or_default();
    for part in parts.as_array().into_iter().flatten() {
        for (keyword, value) in members(&merged(document, part)) {
            match (whole.get_mut(keyword), value) {
                (Some(Value::Object(of_whole)), Value::Object(of_part)) => {
                    of_whole.extend(of_part.clone());
                }
                (Some(Value::Array(of_whole)), Value::Array(of_part)) => {
                    of_whole.extend(of_part.clone());
                }
                (Some(_), _) => {}
                (None, value) => {
                    whole.insert(keyword.to_owned(), value.clone());
                }
            }
        }
    }
    let whole = Value::from(whole);
    match or_null(&whole) {
        Some(value) => nullable(merged(document, value)),
        None => whole,
    }
}

/// What else a value may be that is one of two, the other being null: OpenAPI 3.0 has no shorter way to say that a
/// reference may be null.
fn or_null(schema: &Value) -> Option<&Value> {
    match schema["oneOf"].as_array()?.as_slice() {
        [value, null] if null["enum"] == json!([null]) => Some(value),
        _ => None,
    }
}

/// The same, written as the schema of one value.
fn nullable(mut schema: Value) -> Value {
    schema["nullable"] = true.into();
    if let Some(values) = schema["enum"].as_array_mut() {
        values.push(Value::Null);
    }
    schema
}

/// The schemas of `oneOf` or `anyOf`, named after what they refer to.
fn alternatives(schema: &Value) -> Value {
    let all = [&schema["oneOf"], &schema["anyOf"]].into_iter();
    let mut named = Map::new();
    for alternative in all.filter_map(Value::as_array).flatten() {
        let name = [&alternative["$ref"], &alternative["title"]]
            .into_iter()
            .find_map(Value::as_str);
        let name = name.map_or_else(|| alternative.to_string(), str::to_owned);
        named.insert(name, alternative.clone());
    }
    json!(named)
}
