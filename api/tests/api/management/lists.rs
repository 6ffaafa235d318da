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

#[sqlx::test(migrations = false)]
async fn parameters_that_an_operation_does_not_take_are_refused_by_name(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let answer = operator.get("/teams?limit=1&page=2&offset=1&page=3").await;
    answer.blames("invalid_request", &["page", "offset"]);
    let problem = answer.problem(400, "invalid_request");
    assert_eq!(
        problem["errors"][0]["message"],
        "is no parameter of this operation, which takes `limit`, `cursor`"
    );
    let team = format!("/teams/{}", app.tenant.team);
    let answer = operator.get(&format!("{team}?verbose=true")).await;
    answer.blames("invalid_request", &["verbose"]);
    let problem = answer.problem(400, "invalid_request");
    assert_eq!(
        problem["errors"][0]["message"],
        "is no parameter of this operation, which takes none"
    );
    // Nothing is done by a request that is refused.
    let plan = json!({ "name": "a" });
    let answer = operator.post("/plans?dry_run=1", plan).await;
    answer.blames("invalid_request", &["dry_run"]);
    assert_eq!(app.count("select count(*) from plans").await, 1);
    let long = "x".repeat(4_000);
    let many: Vec<String> = (0..200).map(|n| format!("{n}{}=1", &long[..20])).collect();
    for query in [format!("{long}=1"), many.join("&")] {
        let answer = operator.get(&format!("/teams?{query}")).await;
        assert!(answer.problem(400, "invalid_request").to_string().len() < 10_000);
    }
    // A stranger is told nothing but that he is one.
    let stranger = app.caller_with("mgmt_00000000000000000000000000000000");
    let answer = stranger.get("/teams?page=2").await;
    answer.problem(401, "invalid_token");
}

#[sqlx::test(migrations = false)]
async fn a_cursor_of_another_list_is_told_as_such(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    for n in 0..2 {
        create_team(&operator, &format!("team {n}")).await;
    }
    let keys = format!("/sites/{}/keys", app.tenant.site);
    for _ in 0..2 {
        operator.post(&keys, json!({})).await.created();
    }
    let cursor = async |list: &str| {
        let page = operator.get(&format!("{list}?limit=1")).await.ok();
        page["next_cursor"].as_str().unwrap().to_owned()
    };
    let (teams, of_keys) = (cursor("/teams").await, cursor(&keys).await);
    let other = crate::app::Tenant::create(&app.pool, "other").await;
    let other_keys = format!("/sites/{}/keys", other.site);
    for (list, cursor) in [
        ("/audit-log", &teams),
        (keys.as_str(), &teams),
        ("/teams", &of_keys),
        (other_keys.as_str(), &of_keys),
    ] {
        let answer = operator.get(&format!("{list}?cursor={cursor}")).await;
        answer.blames("invalid_request", &["cursor"]);
        let problem = answer.problem(400, "invalid_request");
        let message = problem["errors"][0]["message"].as_str().unwrap();
        assert!(message.contains("another list"), "{message}");
    }
    // Other filters and limits are of the same list.
    operator
        .get(&format!("/teams?limit=7&cursor={teams}"))
        .await
        .ok();
    operator
        .get(&format!(
            "{}?cursor={of_keys}",
            keys.to_uppercase()
                .replace("/SITES", "/sites")
                .replace("/KEYS", "/keys")
        ))
        .await
        .ok();
}
