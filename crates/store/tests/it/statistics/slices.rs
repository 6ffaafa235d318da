//! Slices are bounded, and each is stored once or not at all.

use sqlx::PgPool;
use store::statistics::{Subject, slice};

use crate::tenant::Tenant;

/// Ten transactions with 1,500 items each.
async fn much(tenant: &Tenant) {
    for _ in 0..10 {
        sqlx::query(
            "insert into media (id, team_id, site_id, content_type, body, group_versions)
             select gen_random_uuid(), $1, $2, 'text', 'text', '{}' from generate_series(1, 1500)",
        )
        .bind(tenant.team.as_uuid())
        .bind(tenant.site.as_uuid())
        .execute(&tenant.pool)
        .await
        .unwrap();
    }
}

#[sqlx::test(migrations = false)]
async fn a_pause_is_caught_up_in_bounded_slices(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    much(&tenant).await;
    tenant.begin_statistics().await;
    let (mut counted, mut slices) = (0, 0);
    while let Some(slice) = slice::next(&tenant.pool).await.unwrap() {
        let follow = tenant.finish(&[slice]).await;
        let now = tenant.accepted().await;
        assert!(now - counted <= 6_000, "{counted} to {now} in one slice");
        counted = now;
        slices += 1;
        assert_eq!(
            follow.len(),
            usize::from(tenant.count(RUNNING).await == 1),
            "a job follows while the chain runs"
        );
    }
    assert_eq!(counted, 15_000);
    assert!(slices >= 3, "{slices}");
}

const RUNNING: &str = "select count(*) from statistics_progress where state = 'running'";

#[sqlx::test(migrations = false)]
async fn a_slice_that_is_done_twice_or_lost_counts_nothing_twice_and_loses_nothing(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    much(&tenant).await;
    tenant.begin_statistics().await;
    let next = async || slice::next(&tenant.pool).await.unwrap().unwrap();
    // A worker was killed: its slice is gone. Another one stalled and came back later.
    drop(next().await);
    let (first, stalled) = (next().await, next().await);
    tenant.finish(&[first]).await;
    let counted = tenant.accepted().await;
    let jobs = tenant.finish(&[stalled]).await;
    assert_eq!(jobs.len(), 0);
    assert_eq!(tenant.accepted().await, counted);
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 15_000);
    assert_eq!(tenant.figures(Subject::Everything).await.accepted, 15_000);
}

#[sqlx::test(migrations = false)]
async fn the_chain_begins_once_a_minute_and_again_after_a_failure(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    let begin = async || {
        store::statistics::begin(&tenant.pool)
            .await
            .unwrap()
            .is_some()
    };
    let jobs = "select count(*) from queue.jobs where queue = 'statistics'";
    // As in a database that has just been made.
    tenant
        .execute("update statistics_progress set ended_at = now()")
        .await;
    assert!(!begin().await, "it is a new database");
    tenant
        .execute("update statistics_progress set ended_at = now() - interval '61 s'")
        .await;
    assert!(begin().await);
    assert!(!begin().await, "it runs");
    assert_eq!(tenant.count(jobs).await, 1);

    // Its job was removed.
    tenant
        .execute("update statistics_progress set begun_at = now() - interval '11 min'")
        .await;
    assert!(!begin().await, "it has a job");
    tenant
        .execute(
            "delete from queue.jobs;
             update statistics_progress set begun_at = now() - interval '11 min'",
        )
        .await;
    assert!(begin().await);
    assert_eq!(tenant.count(jobs).await, 1);

    tenant
        .execute(
            "delete from queue.jobs;
             update statistics_progress set state = 'failed', ended_at = now() - interval '61 s', error = 'x'",
        )
        .await;
    assert!(begin().await);
    assert_eq!(
        tenant
            .count("select count(*) from statistics_progress where error is not null")
            .await,
        0
    );
}

#[sqlx::test(migrations = false)]
async fn nothing_is_counted_before_the_indexes_exist(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    tenant
        .execute(
            "drop index verdicts_stored_by_idx;
             update statistics_progress set ended_at = now() - interval '1 day'",
        )
        .await;
    assert!(
        store::statistics::begin(&tenant.pool)
            .await
            .unwrap()
            .is_none()
    );
    store::schema::migrate(&tenant.pool).await.unwrap();
    assert!(
        store::statistics::begin(&tenant.pool)
            .await
            .unwrap()
            .is_some()
    );
}
