//! Connections to the database are divided among teams.

use std::time::Duration;

use domain::role::Role;
use management::RateLimitSettings;
use poem::http::StatusCode;
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::browser::{Stage, pace};

/// The connections of the management interface.
const CONNECTIONS: u32 = 4;

/// Requests of the greedy team, more than there are connections.
const REQUESTS: usize = 8;

#[sqlx::test(migrations = false)]
async fn slow_pages_of_one_team_do_not_stop_another_and_are_told_to_wait(pool: PgPool) {
    let few = PgPoolOptions::new().max_connections(CONNECTIONS);
    let few = few.connect_with((*pool.connect_options()).clone());
    let settings = RateLimitSettings {
        at_once: CONNECTIONS,
        patience: Duration::from_millis(500),
        ..pace()
    };
    let stage = Stage::paced(few.await.unwrap(), settings).await;
    let other = stage.with_another_team().await;
    let greedy = stage.person("greedy@market.example", Role::Admin).await;
    let mut quiet = other.person("quiet@other.example", Role::Admin).await;

    // Pages with hash lists are slow for a while.
    let mut lock = pool.begin().await.unwrap();
    sqlx::query("lock table hash_lists in access exclusive mode")
        .execute(&mut *lock)
        .await
        .unwrap();
    let mut slow = JoinSet::new();
    for _ in 0..REQUESTS {
        let mut browser = greedy.clone();
        let path = format!("/t/{}/hash-lists", stage.team);
        slow.spawn(async move { browser.get(&path).await });
    }
    let held =
        "select count(*) from pg_locks where relation = 'hash_lists'::regclass and not granted";
    let waiting = async {
        while sqlx::query_scalar::<_, i64>(held)
            .fetch_one(&pool)
            .await
            .unwrap()
            < 2
        {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_mins(1), waiting).await.unwrap();

    // Half of the connections are left for others.
    let path = format!("/t/{}/sites", other.team);
    let answered = timeout(Duration::from_mins(1), quiet.get(&path)).await;
    let answered = answered.expect("another team waits");
    assert_eq!(answered.status, StatusCode::OK, "{}", answered.text);

    for _ in 0..REQUESTS - 2 {
        let told = slow.join_next().await.unwrap().unwrap();
        assert_eq!(
            told.status,
            StatusCode::SERVICE_UNAVAILABLE,
            "{}",
            told.text
        );
        assert!(told.text.contains("Too much is waiting"), "{}", told.text);
    }
    lock.rollback().await.unwrap();
    while let Some(shown) = slow.join_next().await {
        let shown = shown.unwrap();
        assert_eq!(shown.status, StatusCode::OK, "{}", shown.text);
    }
}
