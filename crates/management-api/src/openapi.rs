//! Finishes the management document: adds what poem-openapi cannot express.

pub(super) mod example_values;
mod operation;
mod schemas;

use api_common::{
    openapi::{at, callback, declare_common, extend, webhooks_as_callbacks},
    public_schemas::examples,
};
use domain::{event, scope::Scope};
use serde_json::{Value, json};

use self::{
    operation::describe_operation,
    schemas::{close_schemas, write_bounds_as_integers},
};

pub(super) use operation::Operation;

/// Finishes the generated document. Each of its operations is described once.
pub(super) fn finish(document: &mut Value, mut described: Vec<Operation>) {
    describe(document);
    declare_common(document);
    extend(
        document,
        "/components/headers",
        json!({
            "Challenge": {
                "description": "`Bearer`: send a management token.",
                "required": true,
                "schema": { "type": "string" },
            },
        }),
    );
    close_schemas(document);
    describe_ping(document);
    write_bounds_as_integers(document);
    for pointer in operations(document) {
        let id = at(document, &format!("{pointer}/operationId"))
            .as_str()
            .unwrap_or_default();
        let index = described
            .iter()
            .position(|operation| operation.id == id)
            .unwrap_or_else(|| panic!("nothing describes the operation {id}"));
        describe_operation(document, &pointer, &described.swap_remove(index));
    }
    let missing: Vec<_> = described.iter().map(|operation| operation.id).collect();
    assert!(missing.is_empty(), "there are no operations {missing:?}");
}

fn describe(document: &mut Value) {
    let scopes: Vec<String> = Scope::ALL
        .iter()
        .map(|scope| format!("`{scope}`"))
        .collect();
    extend(
        document,
        "/info",
        json!({
            "description": format!(
                "Operators and teams use this interface to configure and monitor moderation. The interface for \
                 applications is described at [/docs](/docs).\n\n\
                 **Tokens.** Send a management token with every request: `Authorization: Bearer mgmt_...`. A team's token \
                 acts in that team. What belongs to other teams looks as if it did not exist. A token without a team is an \
                 operator's token and acts in all teams. A token can do what its scopes allow: {}. Scopes are independent: \
                 `teams:write` does not include `teams:read`. A token stops working as soon as it is disabled or \
                 expires.\n\n\
                 **Requests** are JSON objects. Unknown fields are refused. A PATCH changes the fields that you send. \
                 **Lists** have pages: send the `next_cursor` of one answer as the `cursor` of the next request. Items that \
                 are added in the meantime do not move other items to another page. **Errors** are problem documents (RFC \
                 9457) with a stable `code`. **Changes** are recorded in the audit log. Within v1, changes to this \
                 interface only add: ignore fields that you do not know.",
                scopes.join(", "),
            ),
        }),
    );
}

/// Adds the ping, as a callback of the operation that tests an endpoint.
fn describe_ping(document: &mut Value) {
    let mut callbacks = webhooks_as_callbacks(document);
    let post = at(&mut callbacks, &callback(event::PING));
    // Requests to a receiver have no token.
    post["security"] = json!([]);
    post["responses"] = json!({
        "2XX": { "description": "Received." },
        "4XX": { "description": "Not received, as after any other answer. The test is not repeated." },
    });
    extend(
        post,
        "/requestBody/content/application~1json",
        json!({ "example": examples::ping() }),
    );
    let name_event = "/components/schemas/WebhookTestPingEvent/properties/event";
    extend(document, name_event, json!({ "enum": [event::PING] }));
    let ping = "/paths/~1webhook-endpoints~1{endpoint_id}~1ping/post";
    extend(document, ping, json!({ "callbacks": callbacks }));
}

/// JSON pointers to all operations.
fn operations(document: &mut Value) -> Vec<String> {
    let paths = at(document, "/paths").as_object().into_iter().flatten();
    paths
        .flat_map(|(path, methods)| {
            let path = path.replace('/', "~1");
            let methods = methods.as_object().into_iter().flatten();
            methods.map(move |(method, _)| format!("/paths/{path}/{method}"))
        })
        .collect()
}
