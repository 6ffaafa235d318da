//! The examples of the document. Tests send the requests to the parser and compare the rest with the schemas.

use serde_json::{Value, json};

const MEDIA: &str = "01980f6e-7c1a-7d2e-9b3f-5a6b7c8d9e0f";
const SITE: &str = "01980f6d-11aa-7bbb-8ccc-0123456789ab";
const RULE: &str = "01980f6d-22aa-7bbb-8ccc-0123456789ab";
const KEY: &str = "site_EXAMPLEexampleEXAMPLEexample0123";

/// Requests of `submit-media`: name and body.
pub fn submissions() -> [(&'static str, Value); 3] {
    [
        (
            "text",
            json!({
                "api_key": KEY,
                "body": "Is this seat taken?",
                "app_media_id": "comment-4711",
                "metadata": { "author": "u-17" },
            }),
        ),
        (
            "image",
            json!({
                "api_key": KEY,
                "body": "My holiday",
                "content_url": "https://images.example.com/beach.jpg",
            }),
        ),
        (
            "inline_image",
            json!({
                "api_key": KEY,
                "content_base64": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            }),
        ),
    ]
}

/// Answers of `submit-media`: name and body.
pub fn accepted() -> [(&'static str, Value); 2] {
    [
        (
            "pending",
            json!({ "id": MEDIA, "status": "pending", "message": "Accepted for moderation." }),
        ),
        (
            "waited",
            json!({
                "id": MEDIA,
                "status": "rejected",
                "message": "Moderated.",
                "action": "block",
                "moderationResult": details(),
            }),
        ),
    ]
}

/// A request of `get-media-status`.
pub fn status_request() -> Value {
    json!({ "api_key": KEY, "media_id": MEDIA })
}

/// Answers of `get-media-status`: name and body.
pub fn statuses() -> [(&'static str, Value); 2] {
    let status = |status: &str, action: Value, result: Value, by: Value, at: Value| {
        json!({
            "media_id": MEDIA,
            "app_media_id": "comment-4711",
            "site_id": SITE,
            "content_type": "text",
            "status": status,
            "action": action,
            "moderationResult": result,
            "moderation_type": by,
            "created_at": "2026-01-31T12:00:00.000000Z",
            "moderated_at": at,
            "metadata": { "author": "u-17" },
        })
    };
    [
        (
            "pending",
            status(
                "pending",
                Value::Null,
                Value::Null,
                Value::Null,
                Value::Null,
            ),
        ),
        (
            "rejected",
            status(
                "rejected",
                "block".into(),
                details(),
                "rule".into(),
                "2026-01-31T12:00:00.042000Z".into(),
            ),
        ),
    ]
}

/// The body of `media.created`.
pub fn media_created() -> Value {
    json!({
        "event": "media.created",
        "timestamp": "2026-01-31T12:00:00.000000Z",
        "data": {
            "media_id": MEDIA,
            "app_media_id": "comment-4711",
            "site_id": SITE,
            "status": "pending",
            "content_type": "text",
            "created_at": "2026-01-31T12:00:00.000000Z",
            "metadata": { "author": "u-17" },
        },
    })
}

/// The body of `media.moderated`.
pub fn media_moderated() -> Value {
    json!({
        "event": "media.moderated",
        "timestamp": "2026-01-31T12:00:00.042000Z",
        "data": {
            "media_id": MEDIA,
            "app_media_id": "comment-4711",
            "site_id": SITE,
            "status": "rejected",
            "previous_status": "pending",
            "moderation_type": "rule",
            "moderated_at": "2026-01-31T12:00:00.042000Z",
            "moderation_details": details(),
            "metadata": { "author": "u-17" },
        },
    })
}

/// The body of `webhook.test.ping`.
pub fn ping() -> Value {
    json!({
        "event": "webhook.test.ping",
        "timestamp": "2026-01-31T12:00:00.000000Z",
        "data": { "site_id": SITE, "test": true, "message": "This is a test event." },
        "_service_signature": "sha256=9b2331b6637d9ee4ba8aae5a512e18051278d8b0e9d80d069179e4f456f984ad",
    })
}

fn details() -> Value {
    json!({
        "rule_violations": [{
            "rule_id": RULE,
            "rule_name": "House rules",
            "rule_type": "keyword",
            "confidence": 1.0,
            "details": "The text contains a listed word.",
            "matched_text": "b*********d",
        }],
        "ai_analysis": { "adult": 0.01, "violence": 0.02, "hate": 0.11, "self_harm": 0.0 },
        "processing_time_ms": 42,
    })
}
