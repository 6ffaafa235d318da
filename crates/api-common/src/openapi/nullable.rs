//! How a document says that a value can be null.

use serde_json::{Value, json};

/// Writes null in the form of OpenAPI 3.0. In an `enum`, null must be one of the values. `nullable`
/// beside a reference has no meaning, and generators understand it differently or not at all.
/// There, `oneOf` has the reference and null.
pub(super) fn admit_null(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let nullable = members
                .get("nullable")
                .is_some_and(|nullable| nullable == true);
            if let Some(reference) = members
                .get("allOf")
                .and_then(|parts| parts.get(0))
                .filter(|_| nullable)
                .cloned()
            {
                members.shift_remove("allOf");
                members.shift_remove("nullable");
                members.insert("oneOf".to_owned(), Value::Array(vec![reference, null()]));
            }
            if let Some(Value::Array(values)) = members.get_mut("enum").filter(|_| nullable)
                && !values.contains(&Value::Null)
            {
                values.push(Value::Null);
            }
            members.values_mut().for_each(admit_null);
        }
        Value::Array(items) => items.iter_mut().for_each(admit_null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The schema of null: `nullable` needs a type, and the `enum` leaves only null of it. With this
/// type, the generators of docs/clients.md write the best code.
fn null() -> Value {
    json!({ "type": "boolean", "nullable": true, "enum": [null] })
}
