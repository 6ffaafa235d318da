//! What Postgres keeps of one submission whose site has many endpoints.

use domain::webhook::{KEPT_ANSWER_BYTES, READ_ANSWER_BYTES};
use sqlx::PgPool;

use super::Endpoints;
use crate::support::{Act, SOON, ScriptedServer, eventually};

const ENDPOINTS: i64 = 100;
/// Every tenth endpoint fails.
const FAILING: i64 = ENDPOINTS / 10;
/// The events of each item: `media.created` and `media.moderated`.
const EVENTS: i64 = 2;

#[sqlx::test(migrations = false)]
async fn case_38_a_submission_to_100_endpoints_keeps_no_answer_of_a_success(pool: PgPool) {
    let answer = vec![b'a'; READ_ANSWER_BYTES];
    let server = ScriptedServer::start(move |path, _| {
        let head = if path.ends_with('0') {
            "500 Oops"
        } else {
            "200 OK"
        };
        Act::Answer(head.to_owned(), answer.clone())
    })
    .await;
    let service = Endpoints::start(pool.clone(), &server, &["/0"]).await;
    sqlx::query(
        "insert into webhook_endpoints (id, site_id, url, events)
         select gen_random_uuid(), site_id, url || '/' || n, events
         from webhook_endpoints, generate_series(1, $1 - 1) n",
    )
    .bind(i32::try_from(ENDPOINTS).unwrap())
    .execute(&pool)
    .await
    .unwrap();
    // Every tenth endpoint fails until the end.
    service.worker.leaves_jobs();
    service.submit().await;
    eventually("the first attempts", SOON, async || {
        let made: i64 =
            sqlx::query_scalar("select count(*) from delivery_attempts where number = 1")
                .fetch_one(&pool)
                .await
                .unwrap();
        (made == ENDPOINTS * EVENTS).then_some(())
    })
    .await;

    let (well, failed): (Option<i64>, i64) = sqlx::query_as(
        "select
            sum(octet_length(response_body)) filter (where outcome = 'delivered'),
            coalesce(max(octet_length(response_body)), 0)::bigint
         from delivery_attempts",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert_eq!(well, None, "bytes of answers of successes");
    let most = i64::try_from(KEPT_ANSWER_BYTES).unwrap();
    assert_eq!(failed, most, "bytes of the answer of a failure");
    let (answers, table): (i64, i64) = sqlx::query_as(
        "select sum(octet_length(response_body))::bigint, pg_total_relation_size('delivery_attempts')
         from delivery_attempts where number <= 3",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    eprintln!("{answers} bytes of answers; the table and its indexes have {table} bytes");
    // A failed delivery is tried again after 5 s and 20 s, and later on a busy machine.
    assert!(answers <= 3 * FAILING * EVENTS * most, "{answers}");
}
