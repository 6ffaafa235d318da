//! Rule groups as the document shows them.

use serde_json::{Value, json};

use super::warnings;
use crate::openapi::example_values;

/// A rule group with a draft that was edited.
pub(super) fn group_example() -> Value {
    json!({
        "id": example_values::RULE_GROUP,
        "team_id": example_values::TEAM,
        "name": "House rules",
        "live_version_id": example_values::VERSION,
        "live_version_number": 3,
        "shadow_version_id": null,
        "shadow_version_number": null,
        "draft_edited": true,
        "draft_revision": 7,
        "created_at": example_values::CREATED_AT,
    })
}

/// A rule group as it is answered when it was created: with warnings about its rules.
pub(super) fn created_example() -> Value {
    let mut created = group_example();
    created["warnings"] = json!([warnings::example()]);
    created
}
