//! Finishes the public document: adds what poem-openapi cannot express.

mod schemas;
mod webhooks;

use api_common::{
    openapi::{at, declare_answers, declare_common, declare_rate_limit, extend},
    public_schemas::examples,
};
use serde_json::{Value, json};

use super::{status, submit};
use schemas::{declare_sets, refine_schemas};
use webhooks::describe_events;

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
