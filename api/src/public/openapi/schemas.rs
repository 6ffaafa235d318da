//! Sets of values as schemas of their own, and what poem-openapi writes differently.

use api_common::{
    field::Described as _,
    openapi::{at, described_reference, extend},
};
use domain::media::{ContentType, ModerationType, Status, StatusVocabulary};
use poem_openapi::registry::Registry;
use serde_json::{Value, json};

/// Gives sets of values a name, which generated code uses.
pub(super) fn declare_sets(document: &mut Value) {
    let mut registry = Registry::new();
    ContentType::declare(&mut registry);
    ModerationType::declare(&mut registry);
    Status::declare(&mut registry);
    let sets = serde_json::to_value(&registry.schemas).expect("schemas are JSON");
    let names = |all: &[Status]| all.iter().map(|status| status.as_str()).collect::<Vec<_>>();
    let mut polled = names(Status::ALL);
    polled.push(Status::Approved.spelled(StatusVocabulary::Completed));
    let actions = Status::ALL.iter().filter_map(|status| status.action());
    let actions: Vec<&str> = actions.map(domain::media::Action::as_str).collect();
    extend(document, "/components/schemas", sets);
    extend(
        document,
        "/components/schemas",
        json!({
            "Action": {
                "type": "string",
                "enum": actions,
                "description": "What to do with an item: show it, do not show it, or wait for a moderator.",
            },
            "PolledStatus": {
                "type": "string",
                "enum": polled,
                "description": "The state of a media item, in the site's status vocabulary.",
            },
            "Verdict": {
                "type": "string",
                "enum": names(&Status::ALL[1..]),
                "description": "The state of a media item after moderation.",
            },
        }),
    );
}

pub(super) fn refine_schemas(document: &mut Value) {
    let mut refine = |schema: &str, property: &str, members: Value| {
        extend(
            document,
            &format!("/components/schemas/{schema}/properties/{property}"),
            members,
        );
    };
    refine("SubmitRequest", "content_url", json!({ "format": "uri" }));
    refine(
        "SubmitRequest",
        "rule_group_id",
        json!({ "format": "uuid" }),
    );
    refine("StatusRequest", "media_id", json!({ "format": "uuid" }));
    refine(
        "MediaCreated",
        "status",
        json!({ "enum": [Status::Pending.as_str()] }),
    );
    for (schema, property, set) in [
        ("Accepted", "status", "PolledStatus"),
        ("Accepted", "action", "Action"),
        ("MediaStatus", "status", "PolledStatus"),
        ("MediaStatus", "content_type", "ContentType"),
        ("MediaStatus", "action", "Action"),
        ("MediaStatus", "moderation_type", "ModerationType"),
        ("MediaCreated", "content_type", "ContentType"),
        ("MediaModerated", "status", "Verdict"),
        ("MediaModerated", "previous_status", "Status"),
        ("MediaModerated", "moderation_type", "ModerationType"),
    ] {
        let property = at(
            document,
            &format!("/components/schemas/{schema}/properties/{property}"),
        );
        let mut named = described_reference(set, &property["description"]);
        if property["nullable"] == true {
            named["nullable"] = true.into();
        }
        *property = named;
    }

    // poem-openapi repeats a description or null beside a reference inside `allOf`, where it has no
    // effect.
    for (schema, property) in [
        ("MediaCreatedEvent", "data"),
        ("MediaModeratedEvent", "data"),
        ("WebhookTestPingEvent", "data"),
        ("MediaModerated", "moderation_details"),
        ("MediaStatus", "moderationResult"),
        ("Accepted", "moderationResult"),
    ] {
        let parts = at(
            document,
            &format!("/components/schemas/{schema}/properties/{property}/allOf"),
        );
        parts
            .as_array_mut()
            .into_iter()
            .for_each(|parts| parts.truncate(1));
    }
    // In Rust, these members are optional, so that a missing one is refused with our own message.
    extend(
        document,
        "/components/schemas/SubmitRequest",
        json!({ "required": ["api_key"] }),
    );
    extend(
        document,
        "/components/schemas/StatusRequest",
        json!({ "required": ["api_key", "media_id"] }),
    );
    // Here, `Option` means null, never absent.
    let properties = at(document, "/components/schemas/MediaStatus/properties").as_object();
    let all: Vec<String> = properties
        .into_iter()
        .flat_map(|properties| properties.keys().cloned())
        .collect();
    extend(
        document,
        "/components/schemas/MediaStatus",
        json!({ "required": all }),
    );
}
