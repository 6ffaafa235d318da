//! Finishes the management document: adds what poem-openapi cannot express.

pub(super) mod example_values;

use api_common::{
    Code,
    openapi::{at, callback, declare_answers, declare_common, extend, webhooks_as_callbacks},
    public_schemas::examples,
};
use domain::{event, scope::Scope};
use serde_json::{Value, json};

use super::list;

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

/// What the document says about an operation beyond its signature.
#[derive(Clone)]
pub(crate) struct Operation {
    id: &'static str,
    /// The scope that it needs. `None` if every valid token can do it.
    scope: Option<Scope>,
    problems: &'static [Code],
    request: Option<Value>,
    answer: Option<Value>,
}

impl Operation {
    /// An operation without bodies in request and answer, and without further problems.
    pub(crate) fn new(id: &'static str, scope: Scope) -> Self {
        Self {
            scope: Some(scope),
            ..Self::without_scope(id)
        }
    }

    /// An operation that every valid token can do.
    pub(crate) fn without_scope(id: &'static str) -> Self {
        Self {
            id,
            scope: None,
            problems: &[],
            request: None,
            answer: None,
        }
    }

    /// Further problems, beyond those that every operation with its parameters and its body has.
    pub(crate) fn problems(self, problems: &'static [Code]) -> Self {
        Self { problems, ..self }
    }

    /// An example of its request's body.
    pub(crate) fn request(self, example: Value) -> Self {
        let request = Some(example);
        Self { request, ..self }
    }

    /// An example of its answer's body.
    pub(crate) fn answer(self, example: Value) -> Self {
        let answer = Some(example);
        Self { answer, ..self }
    }
}

/// Adds it to the operation at a JSON pointer.
fn describe_operation(document: &mut Value, pointer: &str, described: &Operation) {
    let operation = at(document, pointer);
    let scope = match described.scope {
        Some(scope) => format!("Scope: `{scope}`."),
        None => "Scope: none.".to_owned(),
    };
    let description = match operation["description"].as_str() {
        Some(text) => format!("{text}\n\n{scope}"),
        None => scope,
    };
    operation["description"] = description.into();
    let parameters = operation
        .get_mut("parameters")
        .and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        if parameter["name"] == "limit" {
            parameter["schema"]["default"] = list::DEFAULT_LIMIT.into();
        }
    }
    if let Some(example) = &described.request {
        let content = operation["requestBody"]["content"].as_object_mut();
        for (_, body) in content.into_iter().flatten() {
            body["example"] = example.clone();
        }
    }
    if let Some(example) = &described.answer {
        for (_, success) in operation["responses"].as_object_mut().into_iter().flatten() {
            success["content"]["application/json"]["example"] = example.clone();
        }
    }
    let problems = problems(operation, described, !pointer.ends_with("/get"));
    declare_answers(document, pointer, &problems);
}

/// The problems that an operation can answer with: those of its parameters and its body, its own,
/// and those of all operations. In a team that is closed, little can be changed.
fn problems(operation: &Value, described: &Operation, changes: bool) -> Vec<Code> {
    let parameters = || operation["parameters"].as_array().into_iter().flatten();
    let has = |place: &str| parameters().any(|parameter| parameter["in"] == place);
    let has_body = operation["requestBody"].is_object();
    // Every operation refuses query parameters that it does not have.
    let mut problems = vec![Code::InvalidRequest, Code::InvalidToken];
    if described.scope.is_some() {
        problems.push(Code::MissingScope);
    }
    if changes
        && described
            .scope
            .is_some_and(|scope| !scope.is_for_closed_teams())
    {
        problems.push(Code::Closing);
    }
    problems.extend(described.problems);
    if has("path") {
        problems.push(Code::NotFound);
    }
    if has_body {
        problems.extend([
            Code::RequestTimeout,
            Code::PayloadTooLarge,
            Code::UnsupportedMediaType,
        ]);
    }
    problems.extend([Code::RateLimited, Code::InternalError, Code::Overloaded]);
    problems.sort_by_key(|code| code.status());
    problems
}

/// Schemas of answers in which members without a value are absent: problems, scores, and shapes of
/// the public interface.
const WITH_ABSENT_MEMBERS: [&str; 5] = [
    "Problem",
    "FieldProblem",
    "ModerationDetails",
    "RuleViolation",
    "Scores",
];

/// Schemas that are used only inside of requests.
const WITHIN_REQUESTS: [&str; 2] = ["NewMetadataValue", "NewWebhookHeader"];

/// Says that requests have no other members, and that answers always have all members: `Option`
/// means null there.
fn close_schemas(document: &mut Value) {
    let requests: Vec<String> = operations(document)
        .iter()
        .filter_map(|pointer| {
            let schema = format!("{pointer}/requestBody/content/application~1json/schema/$ref");
            let reference = document.pointer(&schema)?.as_str()?;
            reference.rsplit('/').next().map(str::to_owned)
        })
        .collect();
    let schemas = at(document, "/components/schemas").as_object_mut();
    for (name, schema) in schemas.into_iter().flatten() {
        if requests.contains(name) || WITHIN_REQUESTS.contains(&name.as_str()) {
            schema["additionalProperties"] = false.into();
        } else if let Some(members) = schema.get("properties").and_then(Value::as_object)
            && !WITH_ABSENT_MEMBERS.contains(&name.as_str())
        {
            let names: Vec<Value> = members.keys().map(|name| name.as_str().into()).collect();
            schema["required"] = names.into();
        }
        drop_echoes(schema);
    }
}

/// poem-openapi repeats a description beside a reference inside `allOf`, where it has no effect.
fn drop_echoes(schema: &mut Value) {
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, member) in members.into_iter().flatten() {
        if let Some(parts) = member.get_mut("allOf").and_then(Value::as_array_mut) {
            parts.truncate(1);
        }
    }
}

/// poem-openapi writes all bounds as fractions. Ours are integers.
fn write_bounds_as_integers(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_f64() {
                    #[expect(clippy::cast_possible_truncation, reason = "the bounds were integers")]
                    Some(bound) if matches!(name.as_str(), "minimum" | "maximum") => {
                        *member = (bound as i64).into();
                    }
                    Some(_) | None => write_bounds_as_integers(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_bounds_as_integers),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
