//! `docs/errors.md` and the documents know the same problems.

use std::collections::BTreeMap;

use serde_json::Value;

/// Code and status of every row of the table.
fn explained() -> BTreeMap<String, u64> {
    let page = include_str!("../../../docs/errors.md");
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let code = cells.next()?.trim_end_matches('`').to_owned();
        Some((code, cells.next()?.parse().ok()?))
    });
    rows.collect()
}

/// Code and status of every problem that an operation of this interface declares.
fn declared(document: &str) -> BTreeMap<String, u64> {
    let document: Value = serde_json::from_str(document).unwrap();
    let examples = document["components"]["examples"].as_object().unwrap();
    let problems = examples.values().map(|example| {
        let problem = &example["value"];
        let code = problem["code"].as_str().unwrap().to_owned();
        (code, problem["status"].as_u64().unwrap())
    });
    problems.collect()
}

#[test]
fn every_problem_is_explained_and_declared_by_an_operation() {
    let mut known = declared(&api::openapi_documents::public());
    known.extend(declared(&api::openapi_documents::management()));
    // What is answered where there is no operation.
    known.extend([
        ("head_too_large".to_owned(), 431),
        ("method_not_allowed".to_owned(), 405),
        ("not_ready".to_owned(), 503),
    ]);
    // What only clients of other services are answered with.
    known.extend([
        ("model_not_found".to_owned(), 404),
        ("not_checked".to_owned(), 503),
    ]);
    // What only people who have signed in are answered with: they have no operation of this interface.
    known.extend([
        ("factor_exists".to_owned(), 409),
        ("factor_required".to_owned(), 403),
        ("factor_set_up_required".to_owned(), 403),
        ("reauthentication_required".to_owned(), 403),
        ("sign_in_failed".to_owned(), 401),
        ("too_many_tries".to_owned(), 429),
        ("wrong_code".to_owned(), 401),
    ]);
    assert_eq!(explained(), known);
}
