//! What belongs to another team does not exist: everywhere in both documents where something is named by its id, another
//! team's thing is answered exactly as one that is nobody's, and stays as it is. Operations that are added to the documents
//! are tested without anybody thinking of it.

mod fixtures;
mod id_parameters;
mod unstorable_texts;

use std::time::Duration;

use chrono::Utc;
use domain::score::Category;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::rule_group::{self, NewVersion};
use uuid::Uuid;

use self::{
    fixtures::Things,
    id_parameters::{Operation, Place, Position, places},
};
use crate::{
    app::{App, Options, Tenant},
    client::Answer,
    openapi_files,
};

/// The request as its document shows it, about things of `ours`, but for what stands at one position.
async fn ask(app: &App, ours: &Things, operation: &Operation, at: &Position, id: &str) -> Answer {
    let fill = |name: &str| {
        ours.named(name).unwrap_or_else(|| {
            panic!(
                "{operation:?} names something by {name}: add one of it to isolation/fixtures.rs"
            )
        })
    };
    let mut target = String::new();
    for segment in operation.template.split_inclusive('/') {
        let name = segment.trim_matches(['{', '}', '/']);
        if !segment.starts_with('{') {
            target += segment;
            continue;
        }
        target += if *at == Position::Path(name.to_owned()) {
            id
        } else {
            fill(name)
        };
        target += if segment.ends_with('/') { "/" } else { "" };
    }
    let mut query: Vec<String> = Vec::new();
    for name in &operation.required {
        let value = match name.as_str() {
            "api_key" => &ours.site_key,
            name if *at == Position::Query(name.to_owned()) => continue,
            name => fill(name),
        };
        query.push(format!("{name}={value}"));
    }
    if let Position::Query(name) = at {
        query.push(format!("{name}={id}"));
    }
    if !query.is_empty() {
        target = format!("{target}?{}", query.join("&"));
    }
    let body = operation.body.clone().map(|mut body| {
        own(&mut body, ours);
        if body.get("grace_days").is_some() {
            body["name"] = json!(ours.name);
        }
        if let Position::Body(pointer) = at {
            put(&mut body, pointer, id);
        }
        match body {
            Value::String(text) => text,
            body => body.to_string(),
        }
    });
    let authorization = format!("Bearer {}", ours.token);
    let headers = [
        ("Content-Type", operation.content_type.as_str()),
        ("Authorization", &authorization),
    ];
    // The public interface is not told who asks but in the body.
    let headers = if operation.template.starts_with("/management") {
        &headers[..]
    } else {
        &headers[..1]
    };
    app.request(
        &operation.method,
        &target,
        headers,
        body.unwrap_or_default(),
    )
    .await
}

/// Makes everything that the body names our own.
fn own(body: &mut Value, ours: &Things) {
    match body {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if name == "api_key" => text.clone_from(&ours.site_key),
                    // Recent, so that it is kept.
                    Value::String(text) if name == "since" => *text = Utc::now().to_rfc3339(),
                    Value::String(text) => {
                        if let Some(id) = ours.named(name) {
                            id.clone_into(text);
                        }
                    }
                    Value::Array(values) if ours.named(name).is_some() => {
                        *values = vec![ours.named(name).into()];
                    }
                    value => own(value, ours),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| own(value, ours)),
        _ => {}
    }
}

/// Puts an id at a place, which need not be there yet.
fn put(body: &mut Value, pointer: &str, id: &str) {
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    if pointer.ends_with("/lists/0") {
        // Only rules of one type name lists.
        let rule = json!({ "name": "a", "type": "image_hash", "lists": [id], "effect": "reject" });
        body["rules"] = json!([rule]);
    } else if parent == "/filter" {
        // A bulk decision takes a filter instead of reviews.
        let members = body.as_object_mut().unwrap();
        members.remove("review_ids");
        body["count"] = json!(1);
        body["filter"] = json!({ name: id });
    } else if pointer == "/media_ids/0" {
        // An erasure takes ids instead of an author.
        body.as_object_mut().unwrap().remove("author");
        body["media_ids"] = json!([id]);
    } else if pointer == "/team_id" && body.get("grace_days").is_some() {
        // A closure takes a team instead of a site.
        body.as_object_mut().unwrap().remove("site_id");
        body["team_id"] = id.into();
    } else if name == "0" {
        let (grandparent, list) = parent.rsplit_once('/').unwrap();
        body.pointer_mut(grandparent).unwrap()[list] = json!([id]);
    } else {
        body.pointer_mut(parent).unwrap()[name] = id.into();
    }
}

/// An answer without what may differ: its request's name, when it came, and the id that was asked for.
fn likeness(answer: &Answer, id: &str) -> (u16, Vec<(String, String)>, String) {
    let (status, headers, body) = answer.likeness();
    let headers = headers
        .into_iter()
        // Every request counts, and what one creates has an id of its own.
        .filter(|(name, _)| name != "ratelimit" && name != "location")
        .collect();
    let body = match serde_json::from_str(&body) {
        Ok(Value::Object(mut created)) if status == 202 => {
            created.retain(|name, _| name != "id" && name != "created_at");
            Value::Object(created).to_string()
        }
        _ => body,
    };
    (status, headers, body.replace(id, "<asked>"))
}

/// Those of both documents.
fn all_places() -> Vec<Place> {
    let documents = [openapi_files::public(), openapi_files::management()];
    documents.into_iter().flat_map(places).collect()
}

async fn assert_isolated(app: &App, theirs: &Things, before: &[String], place: &Place) {
    let Place {
        operation,
        position,
    } = place;
    let what = format!(
        "{} {} with another's {position:?}",
        operation.method, operation.template
    );
    // Anew for each place: what is tried with our own things may change them.
    let our = Tenant::create(&app.pool, "our").await;
    let ours = Things::of(app, &our).await;
    let name = position.name();
    let id = theirs.named(name).unwrap_or_else(|| {
        panic!("{what}: add one to isolation/fixtures.rs, so that it can be tried")
    });

    let nobodys = Uuid::now_v7().to_string();
    let nobodys_answer = ask(app, &ours, operation, position, &nobodys).await;
    let their_answer = ask(app, &ours, operation, position, id).await;
    assert_eq!(
        likeness(&their_answer, id),
        likeness(&nobodys_answer, &nobodys),
        "{what}"
    );
    let told = likeness(&their_answer, id).2;
    assert_eq!(theirs.told_in(&told), None, "{what}: {told}");
    assert_eq!(theirs.traces(&app.pool).await, before, "{what}");

    // The same request about our own is no nonsense, which would be refused whoever's it was about.
    let own = ask(app, &ours, operation, position, ours.named(name).unwrap()).await;
    let expected = match own.status {
        200..300 | 409 => true,
        403 => operation.operators_only,
        _ => false,
    };
    assert!(
        expected,
        "{what}: about our own it is answered with {own:?}"
    );
}

#[sqlx::test(migrations = false)]
async fn case_26_another_teams_things_are_as_unknown_as_nobodys_wherever_they_are_named(
    pool: PgPool,
) {
    let app = App::start(pool).await;
    let their = Tenant::create(&app.pool, "their").await;
    let theirs = Things::of(&app, &their).await;
    let places = all_places();
    let before = theirs.traces(&app.pool).await;
    assert!(before.len() > 5, "{before:?}");
    for place in &places {
        assert_isolated(&app, &theirs, &before, place).await;
    }
    assert!(places.len() >= 14, "{}", places.len());
}

/// Whoever locks a thing and then looks whose it is lets teams hold each other up.
#[sqlx::test(migrations = false)]
async fn case_26_nobody_waits_for_another_teams_things(pool: PgPool) {
    let options = Options {
        deadline: Duration::from_secs(5),
        ..Options::default()
    };
    let app = App::with(pool, options).await;
    let (our, their) = (
        Tenant::create(&app.pool, "our").await,
        Tenant::create(&app.pool, "their").await,
    );
    let (ours, theirs) = (Things::of(&app, &our).await, Things::of(&app, &their).await);
    let locked = theirs.lock(&app.pool).await;
    for place in all_places() {
        let Place {
            operation,
            position,
        } = place;
        let name = position.name();
        let id = theirs
            .named(name)
            .unwrap_or_else(|| panic!("add {name} to isolation/fixtures.rs"));
        let answer = ask(&app, &ours, &operation, &position, id).await;
        // Not 503, at the deadline.
        assert!(
            answer.status < 500,
            "{} {} with another's {position:?}: {answer:?}",
            operation.method,
            operation.template
        );
    }
    locked.rollback().await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn case_26_lists_hold_nothing_of_another_team(pool: PgPool) {
    let app = App::start(pool).await;
    let (our, their) = (
        Tenant::create(&app.pool, "our").await,
        Tenant::create(&app.pool, "their").await,
    );
    let (ours, theirs) = (Things::of(&app, &our).await, Things::of(&app, &their).await);
    let document = openapi_files::management();
    let token = |things: &Things| format!("Bearer {}", things.token);
    for (path, methods) in document["paths"].as_object().unwrap() {
        if path.contains('{') || methods["get"].is_null() {
            continue;
        }
        let list = async |things: &Things, query: &str| {
            let authorization = token(things);
            let target = format!("/management/v1{path}{query}");
            app.request("GET", &target, &[("Authorization", &authorization)], "")
                .await
        };
        let answer = list(&ours, "").await;
        assert_eq!(theirs.told_in(&answer.body), None, "{path}: {answer:?}");
        // Nor with the place in a list that the other team was given.
        let their_list = list(&theirs, "?limit=1").await;
        if their_list.status == 200 {
            let cursor = their_list.json()["next_cursor"].clone();
            let query = cursor.as_str().map(|cursor| format!("?cursor={cursor}"));
            let answer = list(&ours, &query.unwrap_or_default()).await;
            assert_eq!(theirs.told_in(&answer.body), None, "{path}: {answer:?}");
        }
    }
}

#[sqlx::test(migrations = false)]
async fn a_group_of_the_team_can_be_named(pool: PgPool) {
    let app = App::start(pool).await;
    let mut tx = app.pool.begin().await.unwrap();
    let version = NewVersion {
        rules: &[],
        categories: &[Category::Violence],
    };
    let second = rule_group::create(&mut tx, app.tenant.team, "second", version)
        .await
        .unwrap();
    tx.commit().await.unwrap();
    app.submit(json!({ "body": "a", "rule_group_id": second.to_string() }))
        .await
        .ok();
    let analyses = "select count(*) from queue.jobs where queue = 'analysis'";
    assert_eq!(app.count(analyses).await, 1);
}
