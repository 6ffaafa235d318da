//! Schemas: which members they require, and how their bounds are written.

use api_common::openapi::at;
use serde_json::Value;

use super::operations;

/// Schemas of answers in which members without a value are absent: problems, scores, and shapes of
/// the public interface.
const WITH_ABSENT_MEMBERS: [&str; 5] = [
    "Problem",
    "FieldProblem",
    "ModerationDetails",
    "RuleViolation",
    "Scores",
];

/// Schemas that are used only inside of requests.
const WITHIN_REQUESTS: [&str; 2] = ["NewMetadataValue", "NewWebhookHeader"];

/// Says that requests have no other members, and that answers always have all members: `Option`
/// means null there.
pub(super) fn close_schemas(document: &mut Value) {
    let requests: Vec<String> = operations(document)
        .iter()
        .filter_map(|pointer| {
            let schema = format!("{pointer}/requestBody/content/application~1json/schema/$ref");
            let reference = document.pointer(&schema)?.as_str()?;
            reference.rsplit('/').next().map(str::to_owned)
        })
        .collect();
    let schemas = at(document, "/components/schemas").as_object_mut();
    for (name, schema) in schemas.into_iter().flatten() {
        if requests.contains(name) || WITHIN_REQUESTS.contains(&name.as_str()) {
            schema["additionalProperties"] = false.into();
        } else if let Some(members) = schema.get("properties").and_then(Value::as_object)
            && !WITH_ABSENT_MEMBERS.contains(&name.as_str())
        {
            let names: Vec<Value> = members.keys().map(|name| name.as_str().into()).collect();
            schema["required"] = names.into();
        }
        drop_echoes(schema);
    }
}

/// poem-openapi repeats a description beside a reference inside `allOf`, where it has no effect.
fn drop_echoes(schema: &mut Value) {
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, member) in members.into_iter().flatten() {
        if let Some(parts) = member.get_mut("allOf").and_then(Value::as_array_mut) {
            parts.truncate(1);
        }
    }
}

/// poem-openapi writes all bounds as fractions. Ours are integers.
pub(super) fn write_bounds_as_integers(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_f64() {
                    #[expect(clippy::cast_possible_truncation, reason = "the bounds were integers")]
                    Some(bound) if matches!(name.as_str(), "minimum" | "maximum") => {
                        *member = (bound as i64).into();
                    }
                    Some(_) | None => write_bounds_as_integers(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_bounds_as_integers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
