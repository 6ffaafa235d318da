//! Lists and their cursors.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::Caller;
use crate::app::App;

async fn create_team(operator: &Caller<'_>, name: &str) -> String {
    let team = operator.post("/teams", json!({ "name": name })).await;
    team.created()["id"].as_str().unwrap().to_owned()
}

fn ids(page: &Value) -> Vec<String> {
    let data = page["data"].as_array().unwrap();
    data.iter()
        .map(|thing| thing["id"].as_str().unwrap().to_owned())
        .collect()
}

#[sqlx::test(migrations = false)]
async fn a_list_is_seen_whole_and_once_while_things_are_added(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let mut expected = vec![app.tenant.team.to_string()];
    for n in 0..4 {
        expected.push(create_team(&operator, &format!("team {n}")).await);
    }
    let mut seen = Vec::new();
    let mut path = "/teams?limit=2".to_owned();
    for part in 0..4 {
        let page = operator.get(&path).await.ok();
        assert_eq!(ids(&page).len(), 2);
        seen.extend(ids(&page));
        let cursor = page["next_cursor"].as_str();
        assert_eq!(
            cursor.is_none(),
            part == 3,
            "the last part is full and the last"
        );
        path = format!("/teams?limit=2&cursor={}", cursor.unwrap_or_default());
        if part < 3 {
            expected.push(create_team(&operator, "meanwhile").await);
        }
    }
    assert_eq!(seen, expected);
    assert_eq!(
        operator.get("/teams").await.ok()["next_cursor"],
        Value::Null
    );
}

#[sqlx::test(migrations = false)]
async fn the_latest_first_is_as_stable(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    for n in 0..3 {
        create_team(&operator, &format!("team {n}")).await;
    }
    let first = operator.get("/audit-log?limit=2").await.ok();
    create_team(&operator, "meanwhile").await;
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = operator
        .get(&format!("/audit-log?limit=2&cursor={cursor}"))
        .await
        .ok();
    let names = |page: &Value| -> Vec<Value> {
        let data = page["data"].as_array().unwrap();
        data.iter()
            .map(|entry| entry["details"]["created"]["name"].clone())
            .collect()
    };
    assert_eq!(names(&first), ["team 2", "team 1"]);
    assert_eq!(names(&rest), ["team 0"]);
    assert_eq!(rest["next_cursor"], Value::Null);
}

#[sqlx::test(migrations = false)]
async fn limits_and_cursors_are_checked_by_name(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let keys = format!("/sites/{}/keys", app.tenant.site);
    let endpoints = format!("/sites/{}/webhook-endpoints", app.tenant.site);
    let deliveries = format!("/sites/{}/deliveries", app.tenant.site);
    let events = format!("/sites/{}/webhook-events", app.tenant.site);
    for list in [
        "/teams",
        "/plans",
        "/sites",
        &keys,
        &endpoints,
        &deliveries,
        &events,
        "/media",
        "/tokens",
        "/audit-log",
    ] {
        for limit in ["0", "101", "-1", "1.5", "x", "", "99999999999999999999"] {
            let answer = operator.get(&format!("{list}?limit={limit}")).await;
            answer.blames("invalid_request", &["limit"]);
        }
        for cursor in [
            "",
            "x",
            "AAAA",
            "01980f6d-00aa-7bbb-8ccc-0123456789ab",
            "%00",
        ] {
            let answer = operator.get(&format!("{list}?cursor={cursor}")).await;
            answer.blames("invalid_request", &["cursor"]);
        }
        operator
            .get(&format!("{list}?limit=1&limit=1"))
            .await
            .blames("invalid_request", &["limit"]);
        for limit in ["1", "100"] {
            operator.get(&format!("{list}?limit={limit}")).await.ok();
        }
    }
}
