//! More than can be stored, or a database that is away: who cannot be served is told so at once, with a time to come back.

use std::time::Duration;

use serde_json::json;
use sqlx::{PgPool, Postgres, Transaction};
use tokio::task::JoinSet;

use crate::{
    app::{App, Options, SUBMIT},
    client::{self, Answer},
};

const SOON: Duration = Duration::from_millis(300);

/// Keeps every item from being stored.
async fn block(app: &App) -> Transaction<'static, Postgres> {
    let mut blocker = app.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table media in access exclusive mode")
        .execute(&mut *blocker)
        .await
        .unwrap();
    blocker
}

/// So many submissions, each on its own connection.
fn submissions(app: &App, many: usize) -> JoinSet<Answer> {
    let body = json!({ "api_key": app.tenant.key, "body": "one of many" }).to_string();
    let headers = [("Content-Type", "application/json")];
    let request = client::request("POST", SUBMIT, &headers, body.as_bytes());
    let mut under_way = JoinSet::new();
    for _ in 0..many {
        let (address, request) = (app.address, request.clone());
        under_way.spawn(async move { client::exchange(address, &request).await });
    }
    under_way
}

fn assert_turned_away(answer: &Answer) {
    answer.problem(503, "overloaded");
    assert!(answer.header("retry-after").is_some(), "{answer:?}");
}

#[sqlx::test(migrations = false)]
async fn more_than_may_wait_is_turned_away_and_what_waits_is_stored(pool: PgPool) {
    let mut options = Options::default();
    options.accept.bounds.waiting = 3;
    options.accept.bounds.batch = 1;
    let app = App::with(pool, options).await;
    app.submitted("fills the caches").await;
    let blocker = block(&app).await;
    // One is being stored and three wait; one may be on its way from the one to the other.
    let mut under_way = submissions(&app, 20);
    for _ in 0..15 {
        let answer = under_way.join_next().await.unwrap().unwrap();
        assert_turned_away(&answer);
    }
    blocker.rollback().await.unwrap();
    let mut stored = 1;
    while let Some(answer) = under_way.join_next().await {
        let answer = answer.unwrap();
        if answer.status == 200 {
            stored += 1;
        } else {
            assert_turned_away(&answer);
        }
    }
    assert!(stored > 3, "{stored}");
    assert_eq!(app.count("select count(*) from media").await, stored);
}

#[sqlx::test(migrations = false)]
async fn while_the_database_is_away_everybody_is_turned_away_until_it_is_back(pool: PgPool) {
    let mut options = Options::default();
    options.accept.patience = SOON;
    let app = App::with(pool, options).await;
    app.submitted("fills the caches").await;
    let blocker = block(&app).await;
    // Nobody knows yet: this one waits in vain. Of those that follow, one does.
    assert_turned_away(&app.submit(json!({ "body": "the first" })).await);
    for answer in submissions(&app, 20).join_all().await {
        assert_turned_away(&answer);
    }
    blocker.rollback().await.unwrap();
    // Again one that goes to see, and then all.
    app.submitted("it is back").await;
    for answer in submissions(&app, 20).join_all().await {
        answer.ok();
    }
    assert_eq!(app.count("select count(*) from media").await, 22);
}
