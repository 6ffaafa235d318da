//! The events in the public document: callbacks, and the webhook of any event.

use api_common::{
    openapi::{at, callback, extend, webhooks_as_callbacks},
    public_schemas::{Pings, examples},
};
use domain::event::{self, EventKind};
use poem_openapi::{Webhook as _, registry::Registry};
use serde_json::{Value, json};

use super::SUBMIT;

/// Adds the events about a submission, as callbacks.
pub(super) fn describe_events(document: &mut Value) {
    let mut callbacks = webhooks_as_callbacks(document);
    for (event, example) in [
        (EventKind::MediaCreated.as_str(), examples::media_created()),
        (
            EventKind::MediaModerated.as_str(),
            examples::media_moderated(),
        ),
    ] {
        let post = at(&mut callbacks, &callback(event));
        post["responses"] = json!({
            "2XX": { "description": "Received. Any other answer, redirects included, is tried again." },
            "410": { "description": "Gone: Gatehouse disables the endpoint." },
        });
        extend(
            post,
            "/requestBody/content/application~1json",
            json!({ "example": example }),
        );
    }
    describe_payload(document, &mut callbacks);
    extend(document, SUBMIT, json!({ "callbacks": callbacks }));
}

/// Adds one type for all bodies, with `event` as discriminator: all events go to the same URL.
pub(super) fn describe_payload(document: &mut Value, callbacks: &mut Value) {
    let events = [
        (EventKind::MediaCreated.as_str(), "MediaCreatedEvent"),
        (EventKind::MediaModerated.as_str(), "MediaModeratedEvent"),
        (event::PING, "WebhookTestPingEvent"),
    ];
    // No operation of this document leads to it, so poem-openapi leaves it out.
    let mut registry = Registry::new();
    Pings::register(&mut registry);
    let ping = serde_json::to_value(&registry.schemas).expect("schemas are JSON");
    extend(document, "/components/schemas", ping);
    let (mut all, mut mapping) = (Vec::new(), json!({}));
    for (event, schema) in events {
        let reference = format!("#/components/schemas/{schema}");
        extend(
            document,
            &format!("/components/schemas/{schema}/properties/event"),
            json!({ "enum": [event] }),
        );
        mapping[event] = reference.clone().into();
        all.push(json!({ "$ref": reference }));
    }
    let payload = json!({
        "title": "WebhookPayload",
        "description": "The body of a webhook of any event. Ignore events that you do not know: events may be added.",
        "oneOf": all,
        "discriminator": { "propertyName": "event", "mapping": mapping },
    });
    extend(
        document,
        "/components/schemas",
        json!({ "WebhookPayload": payload }),
    );
    let mut webhook = at(callbacks, &callback(EventKind::MediaCreated.as_str())).clone();
    extend(
        &mut webhook,
        "",
        json!({
            "operationId": "onWebhook",
            "summary": "Any event",
            "description": "What your endpoint receives: events about submitted items, and tests of the endpoint.",
        }),
    );
    webhook["requestBody"]["content"]["application/json"] = json!({
        "schema": { "$ref": "#/components/schemas/WebhookPayload" },
        "examples": {
            "media_created": { "value": examples::media_created() },
            "media_moderated": { "value": examples::media_moderated() },
            "webhook_test_ping": { "value": examples::ping() },
        },
    });
    extend(
        document,
        "",
        json!({ "x-webhooks": { "webhook": { "post": webhook } } }),
    );
}
