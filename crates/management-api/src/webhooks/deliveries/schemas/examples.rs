//! Examples of deliveries.

use domain::event::EventKind;
use serde_json::{Value, json};

use crate::openapi::example_values;

pub(crate) fn listed_example() -> Value {
    json!({
        "id": example_values::DELIVERY,
        "event_id": example_values::EVENT,
        "event": EventKind::MediaCreated,
        "occurred_at": example_values::CREATED_AT,
        "media_id": example_values::MEDIA,
        "endpoint_id": example_values::ENDPOINT,
        "state": "exhausted",
        "attempts": 12,
        "next_attempt_at": null,
        "ended_at": "2026-02-02T11:36:00.123456Z",
    })
}

pub(crate) fn example() -> Value {
    let mut item = json!({ "site_id": example_values::SITE });
    api_common::openapi::extend(&mut item, "", listed_example());
    let body = json!({
        "event": EventKind::MediaCreated,
        "timestamp": example_values::CREATED_AT,
        "data": {
            "media_id": example_values::MEDIA,
            "site_id": example_values::SITE,
            "status": "pending",
            "content_type": "text",
            "created_at": example_values::CREATED_AT,
        },
    });
    let rest = json!({
        "request": {
            "headers": [
                { "name": "content-type", "value": "application/json" },
                { "name": "x-service-event", "value": EventKind::MediaCreated },
                { "name": "x-service-signature", "value": null },
            ],
            "body": body.to_string(),
        },
        "log": [{
            "number": 12,
            "started_at": "2026-02-02T11:36:00.023456Z",
            "duration_ms": 100,
            "url": "https://example.com/hooks",
            "outcome": "status",
            "status_code": 500,
            "response_body": "Internal Server Error",
            "error": null,
        }],
    });
    api_common::openapi::extend(&mut item, "", rest);
    item
}
