//! Webhooks as callbacks: OpenAPI 3.0 has no webhooks.

use serde_json::{Value, json};

/// Takes the webhooks out of the document, as callbacks of an operation.
pub fn webhooks_as_callbacks(document: &mut Value) -> Value {
    let Some(Value::Object(webhooks)) = document
        .as_object_mut()
        .and_then(|root| root.shift_remove("webhooks"))
    else {
        panic!("the document has no webhooks");
    };
    let mut callbacks = json!({});
    for (event, path) in webhooks {
        // The URL is a setting of the endpoint, not a part of the request.
        callbacks[event] = json!({ RECEIVER: path });
    }
    callbacks
}

const RECEIVER: &str = "https://receiver.example.com/webhooks";

/// JSON pointer to the request of a callback.
pub fn callback(event: &str) -> String {
    format!("/{event}/{}/post", RECEIVER.replace('/', "~1"))
}
