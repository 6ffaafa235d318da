//! The state of the providers.

use std::time::Duration;

use domain::score::Category;
use serde_json::{Value, json};
use sqlx::PgPool;
use store::provider::{self, Registration, Spent, State};

use super::document::assert_answers;
use crate::app::App;

async fn change(
    app: &App,
    credential: &str,
    how: impl FnOnce(&mut State, chrono::DateTime<chrono::Utc>),
) {
    let changed = provider::change(&app.pool, credential, "own", |state, now| how(state, now));
    changed.await.unwrap();
}

#[sqlx::test(migrations = false)]
async fn operators_see_how_it_stands_with_a_provider_and_teams_do_not(pool: PgPool) {
    let app = App::start(pool).await;
    let (operator, member) = (app.operator().await, app.member(app.tenant.team).await);
    let own = Registration {
        name: "own".to_owned(),
        kind: "http",
        categories: vec![Category::Spam],
        image_categories: Vec::new(),
    };
    provider::register(&app.pool, &[own]).await.unwrap();
    let health = async || {
        let listed = operator.get("/providers").await.ok();
        assert_answers("GET", "/providers", &listed);
        listed["data"][0]["health"].clone()
    };
    let well = json!({
        "credentials": [],
        "recently_asked": 0,
        "recently_failed": 0,
        "recent_mean_ms": null,
        "recently_failed_at": null,
        "costs": [],
    });
    assert_eq!(health().await, well);

    let spent = Spent {
        provider: "own".to_owned(),
        what: "text_requests".to_owned(),
        amount: 2,
    };
    for _ in 0..2 {
        provider::spend(&app.pool, std::slice::from_ref(&spent))
            .await
            .unwrap();
    }
    let costs = json!([{ "what": "text_requests", "today": 4, "last_30_days": 4 }]);
    assert_eq!(health().await["costs"], costs);

    change(&app, "own:5ec7e7", |state, now| {
        state.breaker.failures = 5;
        state.breaker.openings = 1;
        state.breaker.open_until = Some(now + Duration::from_mins(1));
    })
    .await;
    let told = health().await;
    let credential = &told["credentials"][0];
    assert_eq!(
        (&credential["breaker"], &credential["failures"]),
        (&json!("open"), &json!(5))
    );
    assert_eq!(
        (&credential["limit"], &credential["paused_until"]),
        (&Value::Null, &Value::Null)
    );
    change(&app, "own:5ec7e7", |state, now| {
        state.breaker.open_until = Some(now - Duration::from_secs(1));
        state.throttle.from_bytes = 4_096;
        state.throttle.met = 2;
        state.throttle.until = Some(now + Duration::from_mins(1));
    })
    .await;
    change(&app, "own:07e4", |_, _| {}).await;
    let told = health().await;
    let credentials = told["credentials"].as_array().unwrap();
    assert_eq!(credentials.len(), 2);
    let phases: Vec<_> = credentials.iter().map(|of| &of["breaker"]).collect();
    assert!(phases.contains(&&json!("half_open")) && phases.contains(&&json!("closed")));
    let limited = credentials
        .iter()
        .find(|of| of["limit"].is_object())
        .unwrap();
    assert_eq!(
        (&limited["limit"]["from_bytes"], &limited["limit"]["met"]),
        (&json!(4_096), &json!(2))
    );

    let body = operator.get("/providers").await.body;
    assert!(!body.contains("5ec7e7"), "{body}");
    let seen = member.get("/providers").await.ok();
    assert_answers("GET", "/providers", &seen);
    assert_eq!(seen["data"][0]["health"], Value::Null);
}

#[sqlx::test(migrations = false)]
async fn failures_are_counted_over_the_latest_analyses_of_the_last_hour(pool: PgPool) {
    let app = App::start(pool).await;
    let operator = app.operator().await;
    let own = Registration {
        name: "own".to_owned(),
        kind: "http",
        categories: vec![Category::Spam],
        image_categories: Vec::new(),
    };
    provider::register(&app.pool, &[own]).await.unwrap();
    let answered = json!([{ "provider": "own", "scores": {}, "elapsed_ms": 100 }]);
    let slower = json!([
        { "provider": "own", "scores": {}, "elapsed_ms": 300 },
        { "provider": "other", "scores": {}, "elapsed_ms": 9 },
    ]);
    let failed =
        json!([{ "provider": "own", "scores": {}, "elapsed_ms": 9_000, "failure": "rejected" }]);
    let reused = json!([{ "provider": "own", "scores": {}, "elapsed_ms": 0, "cached_from": uuid::Uuid::nil() }]);
    for (providers, age) in [
        (&answered, 0),
        (&slower, 10),
        (&failed, 20),
        (&reused, 30),
        (&failed, 7_200),
    ] {
        sqlx::query(
            "insert into analyses (media_id, providers, unchecked, created_at)
             values (gen_random_uuid(), $1, '[]', now() - $2 * interval '1 s')",
        )
        .bind(sqlx::types::Json(providers))
        .bind(age)
        .execute(&app.pool)
        .await
        .unwrap();
    }
    let listed = operator.get("/providers").await.ok();
    let health = &listed["data"][0]["health"];
    assert_eq!(
        (
            &health["recently_asked"],
            &health["recently_failed"],
            &health["recent_mean_ms"]
        ),
        (&json!(3), &json!(1), &json!(200))
    );
    assert!(health["recently_failed_at"].is_string());
}
