//! Every place in every documented request where something is named by its id.

use serde_json::{Map, Value};

/// What a customer calls his own things: nothing of ours is named by it. (Whatever else there is has its kind in its name:
/// `id` alone is that of a rule, which its author may choose.)
const OWN_NAMES: [&str; 3] = ["app_media_id", "app_media_ids", "id"];

/// An operation of one of the documents.
#[derive(Clone, Debug)]
pub(super) struct Operation {
    pub(super) method: String,
    /// The whole path, with parameters in braces.
    pub(super) template: String,
    /// Names of the parameters in the query that must be there.
    pub(super) required: Vec<String>,
    /// An example of the body, and its media type.
    pub(super) body: Option<Value>,
    pub(super) content_type: String,
    /// Whether only operators may.
    pub(super) operators_only: bool,
}

/// Where an id stands.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) operation: Operation,
    pub(super) position: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Position {
    Path(String),
    Query(String),
    /// A JSON pointer; in a list, to its first element.
    Body(String),
}

impl Position {
    /// The name of the parameter or member.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Path(name) | Self::Query(name) => name,
            Self::Body(pointer) => {
                let pointer = pointer.trim_end_matches("/0");
                pointer.rsplit('/').next().unwrap_or_default()
            }
        }
    }
}

/// All of them.
pub(super) fn places(document: &Value) -> Vec<Place> {
    found(document, Wanted::Ids)
}

/// Every place in every documented request where a text stands.
pub(super) fn texts(document: &Value) -> Vec<Place> {
    found(document, Wanted::Texts)
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Ids,
    Texts,
}

impl Wanted {
    fn is(self, name: &str, schema: &Value) -> bool {
        match self {
            Self::Ids => is_id(name, schema),
            Self::Texts => schema["type"] == "string",
        }
    }
}

fn found(document: &Value, wanted: Wanted) -> Vec<Place> {
    let server = document["servers"][0]["url"].as_str().unwrap();
    let mut places = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, described) in methods.as_object().unwrap() {
            let parameters: Vec<&Value> = [&methods["parameters"], &described["parameters"]]
                .into_iter()
                .filter_map(Value::as_array)
                .flatten()
                .collect();
            let named = |parameter: &Value| parameter["name"].as_str().unwrap().to_owned();
            let (content_type, content) = body(described);
            let operation = Operation {
                method: method.to_ascii_uppercase(),
                template: format!("{server}{path}"),
                required: parameters
                    .iter()
                    .filter(|parameter| parameter["in"] == "query" && parameter["required"] == true)
                    .map(|parameter| named(parameter))
                    .collect(),
                body: example(content).cloned(),
                content_type: content_type.to_owned(),
                operators_only: described["responses"]["403"]["description"]
                    .as_str()
                    .is_some_and(|text| text.contains("`operators_only`")),
            };
            let mut positions = Vec::new();
            for parameter in parameters {
                let name = named(parameter);
                if !wanted.is(&name, &parameter["schema"]) {
                    continue;
                }
                match parameter["in"].as_str() {
                    Some("path") => positions.push(Position::Path(name)),
                    Some("query") => positions.push(Position::Query(name)),
                    // No header can have U+0000.
                    Some("header") if wanted == Wanted::Texts => {}
                    other => panic!("an id in {other:?} of {operation:?}"),
                }
            }
            members(document, &content["schema"], "", wanted, &mut positions);
            places.extend(positions.into_iter().map(|position| Place {
                operation: operation.clone(),
                position,
            }));
        }
    }
    places
}

/// The media type of an operation's body, and what is said of it.
fn body(described: &Value) -> (&str, &Value) {
    let content = described["requestBody"]["content"].as_object();
    let only = content.and_then(|content| content.iter().next());
    only.map_or(("application/json", &Value::Null), |(name, body)| {
        (name, body)
    })
}

fn example(content: &Value) -> Option<&Value> {
    let examples = content["examples"].as_object();
    let first = examples.and_then(|examples| examples.values().next());
    content
        .get("example")
        .or_else(|| first.map(|example| &example["value"]))
}

/// Whatever says that it is an id, by its format or its name.
fn is_id(name: &str, schema: &Value) -> bool {
    let named = name == "id" || name.ends_with("_id") || name.ends_with("_ids");
    (named || schema["format"] == "uuid") && !OWN_NAMES.contains(&name)
}

fn members(document: &Value, schema: &Value, at: &str, wanted: Wanted, found: &mut Vec<Position>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let schema = document.pointer(&reference[1..]).unwrap();
        return members(document, schema, at, wanted, found);
    }
    for kind in ["allOf", "oneOf", "anyOf"] {
        for part in schema[kind].as_array().into_iter().flatten() {
            members(document, part, at, wanted, found);
        }
    }
    for (name, member) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let at = format!("{at}/{name}");
        let is_list = member["type"] == "array";
        if wanted.is(name, if is_list { &member["items"] } else { member }) {
            let position = Position::Body(if is_list { format!("{at}/0") } else { at });
            if !found.contains(&position) {
                found.push(position);
            }
        } else {
            members(document, member, &at, wanted, found);
        }
    }
    if schema["items"].is_object() {
        members(
            document,
            &schema["items"],
            &format!("{at}/0"),
            wanted,
            found,
        );
    }
}
