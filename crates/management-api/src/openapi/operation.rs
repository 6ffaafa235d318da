//! What the document says about one operation: its scope, its problems and its examples.

use api_common::{
    openapi::{at, declare_answers},
    problem::Code,
};
use domain::scope::Scope;
use serde_json::Value;

use crate::list;

/// What the document says about an operation beyond its signature.
#[derive(Clone)]
pub(crate) struct Operation {
    /// Its operation id.
    pub(crate) id: &'static str,
    /// The scope that it needs. `None` if every valid token can do it.
    pub(crate) scope: Option<Scope>,
    /// Further problems, beyond those that every operation with its parameters and its body has.
    pub(crate) problems: &'static [Code],
    /// An example of its request's body, if it has one.
    pub(crate) request: Option<Value>,
    /// An example of its answer, if that has a body.
    pub(crate) answer: Option<Value>,
}

impl Operation {
    /// An operation without bodies in request and answer, and without further problems.
    pub(crate) fn new(id: &'static str, scope: Scope) -> Self {
        Self {
            id,
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
}

/// Adds it to the operation at a JSON pointer.
pub(super) fn describe_operation(document: &mut Value, pointer: &str, described: &Operation) {
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
