//! What the examples of the management interface share: ids, and lists.

use serde_json::{Value, json};

pub(crate) const TEAM: &str = "01980f6d-00aa-7bbb-8ccc-0123456789ab";
pub(crate) const PLAN: &str = "01980f6d-01aa-7bbb-8ccc-0123456789ab";
pub(crate) const TOKEN: &str = "01980f6d-02aa-7bbb-8ccc-0123456789ab";
pub(crate) const PERSON: &str = "01980f6d-41aa-7bbb-8ccc-0123456789ab";
pub(crate) const INVITATION: &str = "01980f6d-42aa-7bbb-8ccc-0123456789ab";
pub(crate) const SITE: &str = "01980f6d-11aa-7bbb-8ccc-0123456789ab";
pub(crate) const RULE_GROUP: &str = "01980f6d-04aa-7bbb-8ccc-0123456789ab";
pub(crate) const VERSION: &str = "01980f6d-05aa-7bbb-8ccc-0123456789ab";
pub(crate) const OTHER_VERSION: &str = "01980f6d-12aa-7bbb-8ccc-0123456789ab";
pub(crate) const RULE: &str = "01980f6d-13aa-7bbb-8ccc-0123456789ab";
pub(crate) const HASH_LIST: &str = "01980f6d-21aa-7bbb-8ccc-0123456789ab";
pub(crate) const HASH_ENTRY: &str = "01980f6d-22aa-7bbb-8ccc-0123456789ab";
pub(crate) const HASH_IMPORT: &str = "01980f6d-23aa-7bbb-8ccc-0123456789ab";
pub(crate) const HASH_SCAN: &str = "01980f6d-24aa-7bbb-8ccc-0123456789ab";
pub(crate) const RECOVERY: &str = "01980f6d-26aa-7bbb-8ccc-0123456789ab";
pub(crate) const EXPORT: &str = "01980f6d-27aa-7bbb-8ccc-0123456789ab";
pub(crate) const ENDPOINT: &str = "01980f6d-31aa-7bbb-8ccc-0123456789ab";
pub(crate) const DELIVERY: &str = "01980f6e-7c1a-7d2e-8b3f-5a6b7c8d9e10";
pub(crate) const EVENT: &str = "01980f6e-7c1a-7d2e-8b3f-5a6b7c8d9e11";
pub(crate) const PDQ: &str = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22";
pub(crate) const REVIEW: &str = "3f2a9c1e-5b7d-4e8f-9a0b-1c2d3e4f5a6b";
pub(crate) const POLICY: &str = "01980f6d-51aa-7bbb-8ccc-0123456789ab";
pub(crate) const NOTE: &str = "01980f6d-52aa-7bbb-8ccc-0123456789ab";
pub(crate) const BULK_DECISION: &str = "01980f6d-53aa-7bbb-8ccc-0123456789ab";
pub(crate) const ERASURE: &str = "01980f6d-54aa-7bbb-8ccc-0123456789ab";
pub(crate) const CLOSURE: &str = "01980f6d-57aa-7bbb-8ccc-0123456789ab";
pub(crate) const SIGNING_KEY: &str = "01980f6d-55aa-7bbb-8ccc-0123456789ab";
pub(crate) const HOLD: &str = "01980f6d-56aa-7bbb-8ccc-0123456789ab";
pub(crate) const MEDIA: &str = "01980f6e-7c1a-7d2e-9b3f-5a6b7c8d9e0f";
pub(crate) const CREATED_AT: &str = "2026-01-31T12:00:00.123456Z";

/// The first page of a list that continues after this item.
pub(crate) fn list(thing: &Value) -> Value {
    json!({ "data": [thing], "next_cursor": "AZgPbQCqe7uMzAEjRWeJqw" })
}
