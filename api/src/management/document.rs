//! What poem-openapi cannot say about the management interface, put into its document.

use domain::{event, scope::Scope};
use serde_json::{Value, json};

use super::{described, list, rule_groups};
use crate::{
    openapi::{at, callback, declare_answers, declare_common, extend, webhooks_as_callbacks},
    problem::Code,
    public::examples,
};

/// What the document says of an operation beyond its signature.
#[derive(Clone)]
pub(super) struct Operation {
    /// Its operation id.
    pub(super) id: &'static str,
    /// The scope that it asks for; none if every valid token may do it.
    pub(super) scope: Option<Scope>,
    /// The problems that neither its parameters nor its body explain.
    pub(super) problems: &'static [Code],
    /// An example of its request's body, if it has one.
    pub(super) request: Option<Value>,
    /// An example of its answer, if that has a body.
    pub(super) answer: Option<Value>,
}

impl Operation {
    /// One without a body in its request and in its answer, and without problems of its own.
    pub(super) fn new(id: &'static str, scope: Scope) -> Self {
        Self {
            id,
            scope: Some(scope),
            ..Self::without_scope(id)
        }
    }

    /// One that every valid token may do.
    pub(super) fn without_scope(id: &'static str) -> Self {
        Self {
            id,
            scope: None,
            problems: &[],
            request: None,
            answer: None,
        }
    }
}

/// What examples have in common.
pub(super) mod example {
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
    pub(crate) const ENDPOINT: &str = "01980f6d-31aa-7bbb-8ccc-0123456789ab";
    pub(crate) const DELIVERY: &str = "01980f6e-7c1a-7d2e-8b3f-5a6b7c8d9e10";
    pub(crate) const EVENT: &str = "01980f6e-7c1a-7d2e-8b3f-5a6b7c8d9e11";
    pub(crate) const PDQ: &str = "f8f8f0cee0f4a84f06370a22038f63f0b36e2ed596621e1d33e6b39c4e9c9b22";
    pub(crate) const MEDIA: &str = "01980f6e-7c1a-7d2e-9b3f-5a6b7c8d9e0f";
    pub(crate) const CREATED_AT: &str = "2026-01-31T12:00:00.123456Z";

    /// The first part of a list that goes on after this thing.
    pub(crate) fn list(thing: &Value) -> Value {
        json!({ "data": [thing], "next_cursor": "AZgPbQCqe7uMzAEjRWeJqw" })
    }
}

/// Finishes the generated document.
pub(crate) fn finish(document: &mut Value) {
    describe(document);
    declare_common(document);
    extend(
        document,
        "/components/headers",
        json!({
            "Challenge": {
                "description": "`Bearer`: a management token is needed.",
                "required": true,
                "schema": { "type": "string" },
            },
        }),
    );
    close_schemas(document);
    describe_ping(document);
    write_bounds_as_integers(document);
    let mut described = described();
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
    rule_groups::document(document);
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
                "What operators and teams set up and watch. The interface for applications is described at \
                 [/docs](/docs).\n\n\
                 **Tokens.** Every request carries a management token: `Authorization: Bearer mgmt_...`. A token of a team \
                 acts in that team, and whatever belongs to others does not exist for it. A token without a team is an \
                 operator's and acts in all. A token may do what its scopes say: {}. None includes another. Disabling a \
                 token, and its expiry, take effect at once.\n\n\
                 **Requests** are JSON objects; a member that the operation does not know is refused. A PATCH changes the \
                 members that it has. **Lists** come in parts: `next_cursor` of one answer is the `cursor` of the next \
                 request, and things that are added meanwhile change nothing of what was seen. **Errors** are problem \
                 documents (RFC 9457) with a stable `code`. **Changes** are recorded in the audit log. Within v1 all \
                 changes of this interface are additive: ignore members that you do not know.",
                scopes.join(", "),
            ),
        }),
    );
}

/// What the operation that tests an endpoint sends there.
fn describe_ping(document: &mut Value) {
    let mut callbacks = webhooks_as_callbacks(document);
    let post = at(&mut callbacks, &callback(event::PING));
    // No token goes to a receiver.
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
    let problems = problems(operation, described);
    declare_answers(document, pointer, &problems);
}

/// The problems that an operation answers with: those that its parameters and its body bring, its own, and those of all.
fn problems(operation: &Value, described: &Operation) -> Vec<Code> {
    let parameters = || operation["parameters"].as_array().into_iter().flatten();
    let has = |place: &str| parameters().any(|parameter| parameter["in"] == place);
    let has_body = operation["requestBody"].is_object();
    // Each refuses query parameters that it does not take.
    let mut problems = vec![Code::InvalidRequest, Code::InvalidToken];
    if described.scope.is_some() {
        problems.push(Code::MissingScope);
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

/// The schemas of answers in which what there is not is absent: problems, what the public interface shows, too, and scores.
const WITH_ABSENT_MEMBERS: [&str; 5] = [
    "Problem",
    "FieldProblem",
    "ModerationDetails",
    "RuleViolation",
    "Scores",
];

/// The schemas of what stands within requests alone.
const WITHIN_REQUESTS: [&str; 1] = ["NewWebhookHeader"];

/// Requests have no members but the described ones, and answers have all of them: `Option` means null there.
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

/// A description beside a reference is repeated inside by poem-openapi, where it says nothing.
fn drop_echoes(schema: &mut Value) {
    let members = schema.get_mut("properties").and_then(Value::as_object_mut);
    for (_, member) in members.into_iter().flatten() {
        if let Some(parts) = member.get_mut("allOf").and_then(Value::as_array_mut) {
            parts.truncate(1);
        }
    }
}

/// poem-openapi writes all bounds as fractions, and ours are of integers.
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
