//! More than can be stored, or a database that is away: who cannot be served is told so at once, with a time to come back.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{PgPool, PgTransaction};
use tokio::{task::JoinSet, time::sleep};

use crate::{
    app::{App, Options, SUBMIT},
    client::{self, Answer},
};

/// A picture of one pixel.
const GIF: &str = "R0lGODlhAQABAAAAACw=";

/// Keeps everything from being stored in a table.
async fn block(app: &App, table: &str) -> PgTransaction<'static> {
    let mut blocker = app.pool.begin().await.unwrap();
    let lock = format!("lock table {table} in access exclusive mode");
    sqlx::raw_sql(sqlx::AssertSqlSafe(lock))
        .execute(&mut *blocker)
        .await
        .unwrap();
    blocker
}

/// How many statements wait for a table.
async fn blocked(app: &App) -> i64 {
    app.count(
        "select count(*) from pg_locks
         where not granted and locktype = 'relation'
         and database = (select oid from pg_database where datname = current_database())",
    )
    .await
}

/// Returns when more of them wait than before.
async fn more_blocked(app: &App, before: i64) {
    while blocked(app).await <= before {
        sleep(Duration::from_millis(10)).await;
    }
}

/// So many times the same submission, each on its own connection.
fn submissions(app: &App, many: usize, body: &Value) -> JoinSet<Answer> {
    let mut body = body.clone();
    body["api_key"] = app.tenant.key.as_str().into();
    let body = body.to_string();
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
    // A team may have as many of them as remain free: three.
    options.accept.bounds.waiting = 6;
    options.accept.bounds.batch = 1;
    let app = App::with(pool, options).await;
    app.submitted("fills the caches").await;
    let blocker = block(&app, "media").await;
    // One is being stored and three wait; one may be on its way from the one to the other.
    let mut under_way = submissions(&app, 20, &json!({ "body": "one of many" }));
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
async fn what_waits_with_its_image_counts_as_waiting(pool: PgPool) {
    let mut options = Options::default();
    // A team may have as many of them as remain free: three.
    options.accept.images.waiting = 6;
    options.accept.images.batch = 1;
    let app = App::with(pool, options).await;
    app.submitted("fills the caches").await;
    let blocker = block(&app, "media_images").await;
    let image = json!({ "content_base64": GIF });
    let being_stored = submissions(&app, 1, &image);
    more_blocked(&app, 0).await;
    let mut under_way = submissions(&app, 10, &image);
    for _ in 0..7 {
        assert_turned_away(&under_way.join_next().await.unwrap().unwrap());
    }
    assert_eq!(app.acceptor.waiting(), 3);
    blocker.rollback().await.unwrap();
    being_stored.join_all().await[0].ok();
    for answer in under_way.join_all().await {
        answer.ok();
    }
    assert_eq!(app.acceptor.waiting(), 0);
}

#[sqlx::test(migrations = false)]
async fn while_the_database_is_away_everybody_is_turned_away_until_it_is_back(pool: PgPool) {
    let mut options = Options::default();
    // Long enough for all that follows in one patience, however busy the machine is.
    options.accept.patience = Duration::from_secs(8);
    let app = App::with(pool, options).await;
    app.submitted("fills the caches").await;
    let blocker = block(&app, "media").await;
    // Nobody knows yet: this one waits in vain. Its statement goes on waiting, and may store it yet.
    let answer = app.submit(json!({ "body": "in vain" })).await;
    assert_turned_away(&answer);
    let in_vain = blocked(&app).await;
    // Now one goes to see, and as long as it does nobody else waits.
    let mut scout = submissions(&app, 1, &json!({ "body": "goes to see" }));
    more_blocked(&app, in_vain).await;
    let others = submissions(&app, 20, &json!({ "body": "turned away" }));
    for answer in others.join_all().await {
        assert_turned_away(&answer);
    }
    assert!(scout.try_join_next().is_none(), "it waits longer than they");
    blocker.rollback().await.unwrap();
    scout.join_next().await.unwrap().unwrap().ok();
    // It is back, for everybody.
    let others = submissions(&app, 20, &json!({ "body": "served" }));
    for answer in others.join_all().await {
        answer.ok();
    }
    let turned_away = "select count(*) from media where body = 'turned away'";
    assert_eq!(app.count(turned_away).await, 0);
}
