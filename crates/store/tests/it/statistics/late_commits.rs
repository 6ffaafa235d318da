//! Transactions that commit long after others that began later.

use chrono::Utc;
use sqlx::PgPool;

use super::insert_item;
use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn an_item_whose_transaction_commits_late_is_counted_once(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    let mut late = tenant.pool.begin().await.unwrap();
    insert_item(&mut late, &tenant, Utc::now()).await;
    for _ in 0..3 {
        tenant.item().await;
    }
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 3, "the others do not wait for it");

    // Several slices pass it.
    tenant.item().await;
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 4);
    insert_item(&mut late, &tenant, Utc::now()).await;
    late.commit().await.unwrap();
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 6);
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 6);
}

#[sqlx::test(migrations = false)]
async fn a_transaction_that_ends_between_two_statements_of_a_slice_is_counted_once(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    let mut late = tenant.pool.begin().await.unwrap();
    insert_item(&mut late, &tenant, Utc::now()).await;
    tenant.begin_statistics().await;
    // The backfill cannot be read, so the slice stops after it has chosen its transactions.
    let mut lock = tenant.pool.begin().await.unwrap();
    sqlx::raw_sql("lock table statistics_backfill")
        .execute(&mut *lock)
        .await
        .unwrap();
    let slice = tokio::spawn({
        let pool = tenant.pool.clone();
        async move { store::statistics::slice::next(&pool).await.unwrap() }
    });
    let waits = "select count(*) from pg_locks where not granted and relation = 'statistics_backfill'::regclass";
    while tenant.count(waits).await == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    late.commit().await.unwrap();
    lock.commit().await.unwrap();
    tenant.finish(&[slice.await.unwrap().unwrap()]).await;
    assert_eq!(tenant.accepted().await, 0, "it was open");
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 1);
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 1);
}

#[sqlx::test(migrations = false)]
async fn an_open_transaction_holds_back_the_time_until_which_all_is_counted(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    tenant.add_up().await;
    // A minute is taken off, because rows may be a little older than their transaction's number.
    let minute = chrono::TimeDelta::minutes(1);
    let subject = store::statistics::Subject::Everything;
    let mut late = tenant.pool.begin().await.unwrap();
    let began = Utc::now();
    insert_item(&mut late, &tenant, began).await;
    for _ in 0..2 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        tenant.add_up().await;
        assert!(tenant.report(subject).await.counted_until + minute <= began);
    }
    late.rollback().await.unwrap();
    while tenant.report(subject).await.counted_until + minute <= began {
        tenant.add_up().await;
    }
    assert_eq!(tenant.accepted().await, 0);
}

#[sqlx::test(migrations = false)]
async fn after_a_restore_from_a_dump_old_rows_are_not_counted_again(pool: PgPool) {
    let tenant = Tenant::new(pool).await;
    tenant.item().await;
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 1);
    // The old server was far ahead, and its rows came along.
    tenant
        .execute(
            "update media set created_at = created_at - interval '1 day';
             update statistics_progress set counted_to = '999999999999', unfinished = '{999999999998}',
                 unfinished_since = array[now()], reached_at = now() - interval '1 hour'",
        )
        .await;
    tenant.item().await;
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 2);
    tenant.item().await;
    tenant.add_up().await;
    assert_eq!(tenant.accepted().await, 3);
}
