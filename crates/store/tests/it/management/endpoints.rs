//! Endpoints: what a move forgets, and what a deletion leaves.

mod limits;
mod team;

use domain::{event::EventKind, id::EndpointId, reach::Reach};
use sqlx::{PgConnection, PgPool};
use store::endpoint::{self, crud};

use crate::tenant::Tenant;

const PAUSED: &str = "select count(*) from queue.lanes where paused_until > now()";

async fn new_endpoint(fixture: &Tenant) -> EndpointId {
    let mut conn = fixture.pool.acquire().await.unwrap();
    let url = "https://example.com/";
    endpoint::create(&mut conn, fixture.site, url, EventKind::ALL)
        .await
        .unwrap()
}

/// Moves an endpoint to this URL. False: there is none.
async fn relocate(conn: &mut PgConnection, endpoint: EndpointId, url: &str) -> bool {
    let found = crud::lock(conn, None, Reach::Everything, endpoint).await;
    let Some(found) = found.unwrap() else {
        return false;
    };
    let settings = crud::Settings {
        url: url.to_owned(),
        ..found.settings.clone()
    };
    crud::change(conn, None, &found, &settings).await.unwrap();
    true
}

/// Makes it an endpoint that some worker is probing, with the pause of the probe.
async fn fail(pool: &PgPool) {
    sqlx::raw_sql(
        "insert into webhook_endpoint_states (endpoint_id, failing_since, failures, openings, open_until, probe_until)
         select id, now(), 10, 1, now(), now() + interval '20 minutes' from webhook_endpoints;
         insert into queue.lanes (queue, lane, paused_until)
         select 'webhooks', endpoint_id, probe_until from webhook_endpoint_states",
    )
    .execute(pool)
    .await
    .unwrap();
}

#[sqlx::test(migrations = false)]
async fn a_move_forgets_how_an_endpoint_fared_and_ends_the_pause_of_it(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let endpoint = new_endpoint(&fixture).await;
    fail(&fixture.pool).await;
    let mut conn = fixture.pool.acquire().await.unwrap();
    assert!(relocate(&mut conn, endpoint, "https://example.com/").await);
    assert_eq!(fixture.count(PAUSED).await, 1);
    assert!(relocate(&mut conn, endpoint, "https://example.org/").await);
    assert_eq!(fixture.count(PAUSED).await, 0);
    let known = "select count(*) from webhook_endpoint_states";
    assert_eq!(fixture.count(known).await, 0);
}

#[sqlx::test(migrations = false)]
async fn case_55_what_waits_for_an_endpoint_that_works_again_is_due_at_once_and_in_order(
    pool: PgPool,
) {
    let fixture = Tenant::new(pool).await;
    let (one, other) = (new_endpoint(&fixture).await, new_endpoint(&fixture).await);
    // The last attempts of the first delivery came after everything else.
    sqlx::query(
        "with scheduled as (
             select n, gen_random_uuid() as id, case when n <= 5 then $1::uuid else $2::uuid end as endpoint
             from generate_series(1, 6) n
         ),
         waiting as (
             insert into deliveries (id, event_id, endpoint_id, next_attempt_at)
             select id, gen_random_uuid(), endpoint, now() + interval '9 hours' from scheduled
         )
         insert into queue.jobs (queue, lane, payload, max_attempts, state, run_at, attempt)
         select 'webhooks', endpoint, json_build_object('delivery', id), 12, 2, now() + (10 - n) * interval '1 hour', 3
         from scheduled
         order by n",
    )
    .bind(one.as_uuid())
    .bind(other.as_uuid())
    .execute(&fixture.pool)
    .await
    .unwrap();
    fail(&fixture.pool).await;
    let mut tx = fixture.pool.begin().await.unwrap();
    assert_eq!(crud::retry_now(&mut tx, one).await.unwrap(), 5);
    tx.commit().await.unwrap();
    let pauses = "select count(*) from queue.lanes where paused_until > now()";
    assert_eq!(fixture.count(pauses).await, 1, "that of the other");
    let soon = "select count(*) from deliveries where next_attempt_at <= now()";
    assert_eq!(fixture.count(soon).await, 5);
    let due: Vec<(i64, i16)> = sqlx::query_as(
        "select id, attempt from queue.jobs where state = 0 order by priority desc, run_at, id",
    )
    .fetch_all(&fixture.pool)
    .await
    .unwrap();
    assert!(due.is_sorted() && due.len() == 5, "{due:?}");
    assert!(due.iter().all(|(_, attempt)| *attempt == 3));
    let mut conn = fixture.pool.acquire().await.unwrap();
    assert_eq!(crud::retry_now(&mut conn, one).await.unwrap(), 0);
    // Moving does the same.
    let elsewhere = "https://example.org/";
    assert!(relocate(&mut conn, other, elsewhere).await);
    assert_eq!(fixture.count(soon).await, 6);
    assert_eq!(fixture.count(pauses).await, 0);
}
