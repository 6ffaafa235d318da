//! Which items are forgotten, and what goes with them.

use super::*;
use crate::schema;

#[sqlx::test(migrations = false)]
async fn an_item_goes_with_all_that_belongs_to_it_when_its_last_verdict_is_old(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::site(&pool, Some(3)).await;
    let old = site.item("approved", 9, 3).await;
    let decided_late = site.item("rejected", 9, 2).await;
    let young = site.item("approved", 2, 2).await;
    assert_eq!(items(&pool).await, 1);
    assert_eq!(site.items().await, [decided_late, young]);
    for table in ["verdicts", "review_notes", "media_images", "analyses"] {
        let statement = format!("select array_agg(media_id order by media_id) from {table}");
        let left: Vec<Uuid> = sqlx::query_scalar(sqlx::AssertSqlSafe(statement))
            .fetch_one(&pool)
            .await
            .unwrap();
        assert_eq!(left, [decided_late, young], "{table}");
    }
    assert!(!site.items().await.contains(&old));
    assert_eq!(items(&pool).await, 0);
}

#[sqlx::test(migrations = false)]
async fn what_is_needed_stays(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let (site, keeps) = (
        Fixture::site(&pool, Some(1)).await,
        Fixture::site(&pool, None).await,
    );
    let kept = keeps.item("approved", 900, 900).await;
    let waits = site.item("pending_review", 9, 9).await;
    let told = site.item("approved", 9, 9).await;
    site.execute(
        "insert into events (id, media_id, site_id, kind) values ($1, $1, $2, 'media.created')",
        told,
    )
    .await;
    let golden = site.item("approved", 9, 9).await;
    site.execute(
        "insert into golden_items (media_id, team_id, site_id, expected, added_by) values ($1, $2, $2, 'approve', $2)",
        golden,
    )
    .await;
    let audited = site.item("approved", 9, 9).await;
    site.execute(
        "insert into review_tasks
             (id, media_id, team_id, site_id, kind, verdict, severity, categories, rules, waiting_since, due_at)
         values ($1, $1, $2, $2, 'audit', 1, 1, '{}', '{}', now(), now())",
        audited,
    )
    .await;
    // Old enough for its site, but events are kept for two days.
    let young = site.item("approved", 1, 1).await;
    let old = site.item("rejected", 9, 9).await;
    assert_eq!(items(&pool).await, 1);
    let mut expected = [waits, told, golden, audited, young];
    expected.sort_unstable();
    assert_eq!(site.items().await, expected);
    assert_eq!(keeps.items().await, [kept]);
    assert!(!site.items().await.contains(&old));

    // An item that is locked is left to a later run.
    site.execute(
        "delete from events where media_id = $1 and site_id = $2",
        told,
    )
    .await;
    let mut tx = pool.begin().await.unwrap();
    sqlx::query("select from media where id = $1 for update")
        .bind(told)
        .execute(&mut *tx)
        .await
        .unwrap();
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(items(&pool).await, 0);
    tx.rollback().await.unwrap();
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(items(&pool).await, 1);
}

#[sqlx::test(migrations = false)]
async fn what_is_held_stays_until_the_hold_is_lifted(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, Some(3), Some(3)).await;
    let held = site.item("approved", 9, 9).await;
    site.execute(
        "insert into legal_holds (id, team_id, site_id, media_id, reason) values ($1, $2, $2, $1, 'A case.')",
        held,
    )
    .await;
    let other = site.item("approved", 9, 9).await;
    assert_eq!(files(&pool).await, 0);
    site.execute(
        "update sites set image_retention_days = 1 where $1::uuid is not null and id = $2",
        held,
    )
    .await;
    assert_eq!(files(&pool).await, 1);
    assert_eq!(contents(&pool).await, 1);
    assert_eq!(items(&pool).await, 1);
    assert_eq!(site.items().await, [held]);
    assert!(!site.items().await.contains(&other));
    let kept = image::bytes(&pool, held.into()).await;
    assert_eq!(kept.unwrap().as_deref(), Some(&b"secret"[..]));
    site.execute(
        "update legal_holds set lifted_at = now() where media_id = $1 and site_id = $2",
        held,
    )
    .await;
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(files(&pool).await, 1);
    assert_eq!(contents(&pool).await, 1);
    assert_eq!(items(&pool).await, 1);
}
