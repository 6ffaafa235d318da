//! Finishes the public document: adds what poem-openapi cannot express.

use api_common::{
    Described as _,
    openapi::{
        at, callback, declare_answers, declare_common, declare_rate_limit, described_reference,
        extend, webhooks_as_callbacks,
    },
    public_schemas::{Pings, examples},
};
use domain::{
    event::{self, EventKind},
    media::{ContentType, ModerationType, Status, StatusVocabulary},
};
use poem_openapi::{Webhook as _, registry::Registry};
use serde_json::{Value, json};

use super::{status, submit};

const SUBMIT: &str = "/paths/~1submit-media/post";
const STATUS_BY_POST: &str = "/paths/~1get-media-status/post";
const STATUS_BY_GET: &str = "/paths/~1get-media-status/get";
const JSON_CONTENT: &str = "content/application~1json";

/// Finishes the generated document.
pub(crate) fn finish(document: &mut Value) {
    describe(document);
    declare_common(document);
    declare_answers(document, SUBMIT, submit::REFUSALS);
    declare_answers(document, STATUS_BY_POST, status::REFUSALS);
    declare_answers(document, STATUS_BY_GET, status::REFUSALS);
    for operation in [SUBMIT, STATUS_BY_POST, STATUS_BY_GET] {
        declare_rate_limit(document, operation);
    }
    link_status(document);
    declare_preference(document);
    describe_events(document);
    declare_sets(document);
    refine_schemas(document);
    add_examples(document);
}

fn describe(document: &mut Value) {
    // OpenAPI has no security scheme for a key in the body.
    extend(document, "", json!({ "security": [] }));
    extend(
        document,
        "/info",
        json!({
            "description":
                "Content moderation: submit texts and images, and get the verdict by webhook or by asking.\n\n\
                 Every request has the site key in the field `api_key` of its JSON body. There is no Authorization \
                 header. Errors are problem documents (RFC 9457) with a stable `code`. Changes within v1 only add: \
                 ignore fields that you do not know.\n\n\
                 The interface for teams and operators is described at [/docs/management](/docs/management).",
        }),
    );
}

/// Links a submission to its status.
fn link_status(document: &mut Value) {
    let link = json!({
        "operationId": "getMediaStatus",
        "description": "Get the item's status: its `id` is the `media_id` of the request.",
    });
    extend(
        document,
        &format!("{SUBMIT}/responses/200"),
        json!({ "links": { "status": link } }),
    );
}

/// Declares the header that says that an answer was ready to wait.
fn declare_preference(document: &mut Value) {
    let header = json!({
        "description": "How long the answer was ready to wait for the verdict, because the request had `Prefer: wait` (RFC 7240).",
        "schema": { "type": "string" },
        "example": "wait=5",
    });
    at(document, &format!("{SUBMIT}/responses/200"))["headers"]["Preference-Applied"] = header;
}

fn add_examples(document: &mut Value) {
    let named = |examples: Vec<(&str, Value)>| {
        let mut object = json!({});
        for (name, value) in examples {
            object[name] = json!({ "value": value });
        }
        json!({ "examples": object })
    };
    let request = format!("requestBody/{JSON_CONTENT}");
    let success = format!("responses/200/{JSON_CONTENT}");
    extend(
        document,
        &format!("{SUBMIT}/{request}"),
        named(examples::submissions().into()),
    );
    extend(
        document,
        &format!("{SUBMIT}/{success}"),
        named(examples::accepted().into()),
    );
    extend(
        document,
        &format!("{STATUS_BY_POST}/{request}"),
        json!({ "example": examples::status_request() }),
    );
    for operation in [STATUS_BY_POST, STATUS_BY_GET] {
        extend(
            document,
            &format!("{operation}/{success}"),
            named(examples::statuses().into()),
        );
    }
}

/// Gives sets of values a name, which generated code uses.
fn declare_sets(document: &mut Value) {
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

fn refine_schemas(document: &mut Value) {
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

/// Adds the events about a submission, as callbacks.
fn describe_events(document: &mut Value) {
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
fn describe_payload(document: &mut Value, callbacks: &mut Value) {
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
