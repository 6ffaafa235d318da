//! Endpoints and keys that come and go leave a bounded number behind.

use sqlx::PgPool;
use store::{
    Error,
    endpoint::{self, crud},
    site,
};

use super::{new_endpoint, relocate};
use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn a_deletion_discards_a_bounded_number_at_once_and_waits_for_nobody(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let endpoint = new_endpoint(&fixture).await;
    sqlx::query(
        "insert into deliveries (id, event_id, endpoint_id)
         select ('01980000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, gen_random_uuid(), $1
         from generate_series(1, 5010) as n",
    )
    .bind(endpoint.as_uuid())
    .execute(&fixture.pool)
    .await
    .unwrap();
    let mut worker = fixture.pool.begin().await.unwrap();
    sqlx::query(
        "select from deliveries where id = '01980000-0000-7000-8000-000000001000' for update",
    )
    .execute(&mut *worker)
    .await
    .unwrap();
    let mut tx = fixture.pool.begin().await.unwrap();
    crud::delete(&mut tx, endpoint).await.unwrap();
    tx.commit().await.unwrap();
    worker.rollback().await.unwrap();
    let discarded =
        "select count(*) from deliveries where state = 'discarded' and ended_at is not null";
    assert_eq!(fixture.count(discarded).await, 4_999);
    let mut conn = fixture.pool.acquire().await.unwrap();
    let elsewhere = "https://example.org/";
    assert!(!relocate(&mut conn, endpoint, elsewhere).await);
    assert!(!crud::enable(&mut conn, endpoint).await.unwrap());
}

#[sqlx::test(migrations = false)]
async fn case_38_endpoints_that_come_and_go_leave_a_bounded_number_behind(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let add = async || {
        let mut tx = fixture.pool.begin().await.unwrap();
        let url = "https://example.com/";
        let added = endpoint::create(&mut tx, fixture.site, url, &[]).await;
        tx.commit().await.unwrap();
        added
    };
    let live = add().await.unwrap();
    // The last ten have deliveries, and all were deleted a while ago.
    sqlx::query(
        "insert into webhook_endpoints (id, site_id, url, events, disabled_at, deleted_at)
         select ('01980000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, 'https://example.com/', '{}',
             now() - interval '1 hour', now() - interval '1 hour'
         from generate_series(1, 1000) as n",
    )
    .bind(fixture.site.as_uuid())
    .execute(&fixture.pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into deliveries (id, event_id, endpoint_id, state, ended_at)
         select id, gen_random_uuid(), id, 'delivered', now() from webhook_endpoints
         where deleted_at is not null and id > '01980000-0000-7000-8000-0000000003de'",
    )
    .execute(&fixture.pool)
    .await
    .unwrap();
    add().await.unwrap();
    let deleted = "select count(*) from webhook_endpoints where deleted_at is not null";
    assert_eq!(fixture.count(deleted).await, 900);
    let known =
        "select count(*) from deliveries d join webhook_endpoints p on p.id = d.endpoint_id";
    assert_eq!(fixture.count(known).await, 10);
    // Endpoints that were just deleted may still be written to.
    sqlx::query(
        "update webhook_endpoints set deleted_at = now(), disabled_at = now() where id <> $1",
    )
    .bind(live.as_uuid())
    .execute(&fixture.pool)
    .await
    .unwrap();
    for _ in 0..99 {
        let new = add().await.unwrap();
        let mut conn = fixture.pool.acquire().await.unwrap();
        crud::delete(&mut conn, new).await.unwrap();
    }
    let refused = add().await;
    assert!(
        matches!(refused, Err(Error::TooManyDeleted(1_000))),
        "{refused:?}"
    );
}

#[sqlx::test(migrations = false)]
async fn case_38_keys_that_are_replaced_for_ever_leave_a_bounded_number_behind(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    sqlx::query(
        "insert into site_keys (id, site_id, hash, hint, disabled_at)
         select gen_random_uuid(), $1, sha256(n::text::bytea), '', now() - n * interval '1 minute'
         from generate_series(1, 1200) as n",
    )
    .bind(fixture.site.as_uuid())
    .execute(&fixture.pool)
    .await
    .unwrap();
    sqlx::query(
        "insert into rate_windows (site_key_id, policy, minute, allowed, wanted, share, given, scarce, holders)
         select id, 'submit', now(), 1, 1, 1, 1, false, '{}' from site_keys",
    )
    .execute(&fixture.pool)
    .await
    .unwrap();
    let mut tx = fixture.pool.begin().await.unwrap();
    site::keys::rotate(&mut tx, fixture.site).await.unwrap();
    tx.commit().await.unwrap();
    let disabled =
        "select count(*) from site_keys where disabled_at > now() - interval '1001 minutes'";
    assert_eq!(fixture.count(disabled).await, 1_000);
    assert_eq!(fixture.count("select count(*) from site_keys").await, 1_001);
    assert_eq!(
        fixture.count("select count(*) from rate_windows").await,
        1_000
    );
}
