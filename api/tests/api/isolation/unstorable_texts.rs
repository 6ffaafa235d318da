//! Texts that Postgres does not store, at every place in both documents where a text stands.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::{
    ask,
    fixtures::Things,
    id_parameters::{Operation, Place, Position, texts},
    openapi_files,
};
use crate::app::{App, Tenant};

/// No parameter has this name, so that a request is sent as it is.
const NOWHERE: &str = "";

#[sqlx::test(migrations = false)]
async fn no_text_of_a_request_fails_in_the_database(pool: PgPool) {
    let app = App::start(pool).await;
    let our = Tenant::create(&app.pool, "our").await;
    let ours = Things::of(&app, &our).await;
    let documents = [openapi_files::public(), openapi_files::management()];
    let places: Vec<Place> = documents.into_iter().flat_map(texts).collect();
    let mut tried = 0;
    let mut failed = Vec::new();
    for Place {
        mut operation,
        position,
    } in places
    {
        let (at, text) = match &position {
            Position::Body(pointer) => {
                let Some(body) = &mut operation.body else {
                    continue;
                };
                if !put(body, pointer, "a\0b") {
                    continue;
                }
                (Position::Path(NOWHERE.to_owned()), "")
            }
            at => (at.clone(), "a%00b"),
        };
        let answer = ask(&app, &ours, &operation, &at, text).await;
        if answer.status >= 500 {
            let Operation {
                method, template, ..
            } = &operation;
            failed.push(format!("{method} {template} {position:?}: {}", answer.body));
        }
        tried += 1;
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert!(tried > 150, "{tried}");
}

/// Puts a text at a place of the example, if its parent is there.
fn put(body: &mut Value, pointer: &str, text: &str) -> bool {
    let Some((parent, name)) = pointer.rsplit_once('/') else {
        return false;
    };
    if name == "0" {
        let Some((parent, list)) = parent.rsplit_once('/') else {
            return false;
        };
        let Some(Value::Object(members)) = body.pointer_mut(parent) else {
            return false;
        };
        members.insert(list.to_owned(), json!([text]));
        return true;
    }
    let Some(Value::Object(members)) = body.pointer_mut(parent) else {
        return false;
    };
    members.insert(name.to_owned(), json!(text));
    true
}
