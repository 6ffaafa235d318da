//! What poem-openapi cannot say about the public interface, put into its document.

use domain::media::{ContentType, ModerationType, Status, StatusVocabulary};
use serde_json::{Value, json};

use super::{examples, status, submit};
use crate::openapi::{at, declare_answers, declare_common, declare_rate_limit, extend};

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
    move_webhooks_to_callbacks(document);
    refine_schemas(document);
    add_examples(document);
}

fn describe(document: &mut Value) {
    // The key in the body is no security scheme that OpenAPI knows.
    extend(document, "", json!({ "security": [] }));
    extend(
        document,
        "/info",
        json!({
            "description":
                "Content moderation: submit text and images, and learn by webhook or by asking what may be shown.\n\n\
                 Every call carries the site key as the member `api_key` of its JSON body; there is no Authorization \
                 header. Errors are problem documents (RFC 9457) with a stable `code`. Within v1 all changes are \
                 additive: ignore members that you do not know.\n\n\
                 What operators call is described at [/docs/management](/docs/management).",
        }),
    );
}

/// What was submitted can be asked about.
fn link_status(document: &mut Value) {
    let link = json!({
        "operationId": "getMediaStatus",
        "description": "Where the submitted item stands: its `id` is the `media_id` of the request.",
    });
    extend(
        document,
        &format!("{SUBMIT}/responses/200"),
        json!({ "links": { "status": link } }),
    );
}

/// OpenAPI 3.0 has no webhooks; what a submission leads to is a callback of it.
fn move_webhooks_to_callbacks(document: &mut Value) {
    let Some(Value::Object(webhooks)) = document
        .as_object_mut()
        .and_then(|root| root.shift_remove("webhooks"))
    else {
        panic!("the document has no webhooks");
    };
    let mut callbacks = json!({});
    for (event, mut path) in webhooks {
        path["post"]["responses"] = json!({
            "2XX": { "description": "Received. Anything else, redirects included, is tried again." },
            "410": { "description": "No longer wanted: the endpoint is disabled." },
        });
        // The address is the site's setting and no part of the request.
        callbacks[event] = json!({ "https://receiver.example.com/webhooks": path });
    }
    extend(document, SUBMIT, json!({ "callbacks": callbacks }));
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
    let names = |all: &[Status]| all.iter().map(|status| status.as_str()).collect::<Vec<_>>();
    let decided = &Status::ALL[1..];
    let spelled: Vec<&str> = names(Status::ALL)
        .into_iter()
        .chain([Status::Approved.spelled(StatusVocabulary::Completed)])
        .collect();
    let by: Vec<&str> = ModerationType::ALL.iter().map(|by| by.as_str()).collect();
    let content: Vec<&str> = ContentType::ALL.iter().map(|kind| kind.as_str()).collect();
    refine(
        "Accepted",
        "status",
        json!({ "enum": [Status::Pending.as_str()] }),
    );
    refine("MediaStatus", "status", json!({ "enum": spelled }));
    refine("MediaStatus", "content_type", json!({ "enum": content }));
    refine("MediaCreated", "content_type", json!({ "enum": content }));
    refine(
        "MediaCreated",
        "status",
        json!({ "enum": [Status::Pending.as_str()] }),
    );
    refine(
        "MediaModerated",
        "status",
        json!({ "enum": names(decided) }),
    );
    refine(
        "MediaModerated",
        "previous_status",
        json!({ "enum": names(Status::ALL) }),
    );
    refine("MediaModerated", "moderation_type", json!({ "enum": by }));

    // A description or null beside a reference is repeated inside by poem-openapi, where it says nothing.
    for (schema, property) in [
        ("MediaCreatedEvent", "data"),
        ("MediaModeratedEvent", "data"),
        ("MediaModerated", "moderation_details"),
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
    // In OpenAPI 3.0 nothing beside a reference lets null through, so this member has a nullable copy.
    let mut details = at(document, "/components/schemas/ModerationDetails").clone();
    extend(
        &mut details,
        "",
        json!({ "title": "ModerationResult", "nullable": true, "description": "Why; null while pending." }),
    );
    *at(
        document,
        "/components/schemas/MediaStatus/properties/moderationResult",
    ) = details;

    // In Rust these members are optional, so that a missing one is refused by our own words.
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
    // Here `Option` means null, never absent.
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
        json!({ "example": examples::accepted() }),
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
    for (event, example) in [
        ("media.created", examples::media_created()),
        ("media.moderated", examples::media_moderated()),
    ] {
        let post =
            format!("{SUBMIT}/callbacks/{event}/https:~1~1receiver.example.com~1webhooks/post");
        extend(
            document,
            &format!("{post}/{request}"),
            json!({ "example": example }),
        );
    }
}
