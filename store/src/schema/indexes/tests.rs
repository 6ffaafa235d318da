//! Indexes on large tables: writers go on while they are created, and a try that was interrupted is repeated.

use sqlx::PgPool;
use tokio::time::timeout;

use super::*;
use crate::schema;

/// Every table that has a row is large.
const ALL_LARGE: i64 = 0;

const LONG: Duration = Duration::from_mins(2);

/// A database without the index of media, and how many items it has.
async fn without_index(pool: &PgPool) -> i64 {
    schema::migrate(pool).await.unwrap();
    let mut conn = pool.acquire().await.unwrap();
    sqlx::raw_sql("drop index media_stored_by_idx")
        .execute(&mut *conn)
        .await
        .unwrap();
    insert(&mut conn, 100).await;
    100
}

/// Stores items. They get the number of the transaction.
async fn insert(conn: &mut PgConnection, items: i64) {
    sqlx::query(
        "insert into media (id, team_id, site_id, status, content_type, body, group_versions)
         select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'pending', 'text', 'x', '{}'
         from generate_series(1, $1)",
    )
    .bind(items)
    .execute(conn)
    .await
    .unwrap();
}

async fn is_valid(pool: &PgPool) -> Option<bool> {
    sqlx::query_scalar(
        "select (select indisvalid from pg_index where indexrelid = to_regclass('media_stored_by_idx'))",
    )
    .fetch_one(pool)
    .await
    .unwrap()
}

/// How many items the index finds.
async fn indexed(pool: &PgPool) -> i64 {
    let mut tx = pool.begin().await.unwrap();
    sqlx::raw_sql("set local enable_seqscan = off")
        .execute(&mut *tx)
        .await
        .unwrap();
    sqlx::query_scalar("select count(*) from media where stored_by is not null")
        .fetch_one(&mut *tx)
        .await
        .unwrap()
}

/// Waits until an index is being created and must wait for older transactions.
async fn until_it_waits(pool: &PgPool) {
    // Other tests create indexes on the same server.
    let waits = "select exists (
        select from pg_stat_progress_create_index where datname = current_database() and phase like 'waiting for%'
    )";
    let waiting = async {
        while !sqlx::query_scalar::<_, bool>(waits)
            .fetch_one(pool)
            .await
            .unwrap()
        {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LONG, waiting).await.expect("nothing waits");
}

#[sqlx::test(migrations = false)]
async fn writers_go_on_while_an_index_is_created_on_a_large_table(pool: PgPool) {
    let items = without_index(&pool).await;
    // A concurrent creation waits for transactions that still see the table as it was.
    let mut reader = pool.begin().await.unwrap();
    sqlx::raw_sql("set transaction isolation level repeatable read; select from media limit 1")
        .execute(&mut *reader)
        .await
        .unwrap();
    let creating = tokio::spawn({
        let pool = pool.clone();
        async move {
            let mut conn = pool.acquire().await.unwrap();
            create_missing(&mut conn, ALL_LARGE).await
        }
    });
    until_it_waits(&pool).await;
    let mut writer = pool.acquire().await.unwrap();
    sqlx::raw_sql("set lock_timeout = '30s'")
        .execute(&mut *writer)
        .await
        .unwrap();
    insert(&mut writer, 7).await;
    assert_eq!(is_valid(&pool).await, Some(false), "it is not ready yet");
    reader.commit().await.unwrap();
    timeout(LONG, creating).await.unwrap().unwrap().unwrap();
    assert_eq!(is_valid(&pool).await, Some(true));
    assert_eq!(indexed(&pool).await, items + 7);
}

#[sqlx::test(migrations = false)]
async fn an_index_whose_creation_was_interrupted_is_created_again(pool: PgPool) {
    let items = without_index(&pool).await;
    let mut reader = pool.begin().await.unwrap();
    sqlx::raw_sql("set transaction isolation level repeatable read; select from media limit 1")
        .execute(&mut *reader)
        .await
        .unwrap();
    let interrupted = tokio::spawn({
        let pool = pool.clone();
        async move {
            let mut conn = pool.acquire().await.unwrap();
            let ended = create_missing(&mut conn, ALL_LARGE).await;
            conn.close().await.unwrap();
            ended
        }
    });
    until_it_waits(&pool).await;
    sqlx::query("select pg_cancel_backend(pid) from pg_stat_progress_create_index where datname = current_database()")
        .execute(&pool)
        .await
        .unwrap();
    timeout(LONG, interrupted)
        .await
        .unwrap()
        .unwrap()
        .unwrap_err();
    reader.commit().await.unwrap();
    assert_eq!(is_valid(&pool).await, Some(false), "what it left");

    let mut conn = pool.acquire().await.unwrap();
    create_missing(&mut conn, ALL_LARGE).await.unwrap();
    assert_eq!(is_valid(&pool).await, Some(true));
    assert_eq!(indexed(&pool).await, items);
    // The next process finds nothing to do.
    create_missing(&mut conn, ALL_LARGE).await.unwrap();
    assert_eq!(is_valid(&pool).await, Some(true));
}
