//! Which contents are forgotten, and what is left of their items.

use super::*;
use crate::schema;

/// Everything that the database holds of an item, as text.
async fn held(pool: &PgPool, item: Uuid) -> String {
    sqlx::query_scalar(
        "select concat_ws(
             ' ',
             (select m::text from media m where id = $1),
             (select convert_from(bytes, 'UTF8') from media_images where media_id = $1),
             (select a::text from analyses a where media_id = $1),
             (select v::text from verdicts v where media_id = $1),
             (select string_agg(body, ' ') from review_notes where media_id = $1)
         )",
    )
    .bind(item)
    .fetch_one(pool)
    .await
    .unwrap()
}

#[sqlx::test(migrations = false)]
async fn the_content_of_an_item_goes_and_what_is_known_of_it_stays(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, None, Some(3)).await;
    let old = site.item("approved", 9, 3).await;
    let young = site.item("approved", 2, 2).await;
    assert!(held(&pool, old).await.contains("secret"));
    assert_eq!(contents(&pool).await, 1);
    let left = held(&pool, old).await;
    assert!(!left.contains("secret"), "{left}");
    for stays in [
        "ada",
        "approved",
        "0.1",
        "\"provider\": \"a\"",
        "\"provider\": \"b\"",
    ] {
        assert!(
            left.contains(&stays.replace('"', "\"\"")),
            "{stays}: {left}"
        );
    }
    let removed =
        "select content_removed_at > now() - interval '1 minute' from media where id = $1";
    let removed: Option<bool> = sqlx::query_scalar(removed)
        .bind(old)
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(removed, Some(true));
    assert!(held(&pool, young).await.contains("secret"));
    assert_eq!(contents(&pool).await, 0);
}

#[sqlx::test(migrations = false)]
async fn a_content_that_had_to_stay_goes_later(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, Some(20), Some(3)).await;
    let waiting = site.item("pending_review", 9, 9).await;
    let decided_late = site.item("approved", 9, 1).await;
    let after = site.item("approved", 5, 5).await;
    assert_eq!(contents(&pool).await, 1);
    assert!(!held(&pool, after).await.contains("secret"));
    site.execute(
        "update media set status = 'rejected' where id = $1 and site_id = $2",
        waiting,
    )
    .await;
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(contents(&pool).await, 1);
    assert!(!held(&pool, waiting).await.contains("secret"));
    assert!(held(&pool, decided_late).await.contains("secret"));
    site.execute(
        "update verdicts set moderated_at = now() - interval '4 days' where media_id = $1 and $2::uuid is not null",
        decided_late,
    )
    .await;
    look_again_at_all(&pool).await.unwrap();
    assert_eq!(contents(&pool).await, 1);
    assert_eq!(site.listed().await, []);
}

#[sqlx::test(migrations = false)]
async fn a_content_is_removed_once_also_if_its_site_is_walked_again(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let site = Fixture::keeping(&pool, None, Some(3)).await;
    site.item("approved", 9, 9).await;
    assert_eq!(contents(&pool).await, 1);
    sqlx::query("delete from retention_walks")
        .execute(&pool)
        .await
        .unwrap();
    assert_eq!(contents(&pool).await, 0);
    assert_eq!(site.listed().await, []);
}
