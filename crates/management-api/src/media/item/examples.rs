//! An example of a media item.

use serde_json::{Value, json};

use crate::openapi::example_values;

/// An item that a moderator has approved.
pub(crate) fn example() -> Value {
    json!({
        "id": example_values::MEDIA,
        "team_id": example_values::TEAM,
        "site_id": example_values::SITE,
        "app_media_id": "comment-4711",
        "author": "u-17",
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
        "content_type": "text",
        "status": "approved",
        "verdict": 2,
        "created_at": example_values::CREATED_AT,
        "body": "Is this seat taken?",
        "content_removed_at": null,
        "erased_at": null,
        "content_url": null,
        "image_format": null,
        "image_bytes": null,
        "image": null,
        "metadata": { "user": { "id": "u-17" } },
        "rule_group_versions": [{
            "id": "01980f6d-05aa-7bbb-8ccc-0123456789ab",
            "number": 3,
            "rule_group_id": example_values::RULE_GROUP,
            "rule_group_name": "House rules",
        }],
        "analyses": [{
            "scores": { "adult": 0.01, "violence": 0.62 },
            "providers": [{
                "provider": "builtin",
                "modality": "text",
                "scores": { "adult": 0.01, "violence": 0.62 },
                "elapsed_ms": 3,
                "failure": null,
                "raw": null,
                "cached_from": null,
            }],
            "unchecked": [],
            "created_at": example_values::CREATED_AT,
        }],
        "verdicts": [
            {
                "number": 2,
                "status": "approved",
                "previous_status": "pending_review",
                "moderation_type": "manual",
                "details": { "rule_violations": [], "reason": "Satire, clearly marked as such." },
                "trace": {
                    "moderator": { "token_id": example_values::TOKEN, "token_name": "Ada's console" },
                    "reason": "Satire, clearly marked as such.",
                },
                "moderated_at": "2026-01-31T14:30:00.123456Z",
            },
            {
                "number": 1,
                "status": "pending_review",
                "previous_status": "pending",
                "moderation_type": "ai",
                "details": {
                    "rule_violations": [],
                    "reason": "Review requested by `Violence`.",
                    "flagged_categories": ["violence"],
                },
                "trace": { "evidence": [], "unchecked": [], "unscored": [] },
                "moderated_at": "2026-01-31T12:00:00.523456Z",
            },
        ],
        "events": [{
            "id": "01980f6d-06aa-7bbb-8ccc-0123456789ab",
            "kind": "media.moderated",
            "verdict": 2,
            "occurred_at": "2026-01-31T14:30:00.123456Z",
            "deliveries": [{
                "id": "01980f6d-07aa-7bbb-8ccc-0123456789ab",
                "endpoint_id": "01980f6d-08aa-7bbb-8ccc-0123456789ab",
                "state": "delivered",
                "attempts": 1,
                "next_attempt_at": null,
                "ended_at": "2026-01-31T14:30:00.423456Z",
            }],
        }],
    })
}
