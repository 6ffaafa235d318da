//! Which images without an item are forgotten.

use super::*;
use crate::schema;

#[sqlx::test(migrations = false)]
async fn only_old_images_without_an_item_are_forgotten(pool: PgPool) {
    schema::migrate(&pool).await.unwrap();
    let image = async |media: Uuid| {
        sqlx::query("insert into media_images (media_id, format, bytes) values ($1, 'png', '')")
            .bind(media)
            .execute(&pool)
            .await
            .unwrap();
    };
    let new = Uuid::now_v7();
    let old = |minutes: u64| {
        let (seconds, _) = new.get_timestamp().unwrap().to_unix();
        Uuid::new_v7(uuid::Timestamp::from_unix(
            uuid::NoContext,
            seconds - 60 * minutes,
            0,
        ))
    };
    let (accepted, orphan) = (old(90), old(70));
    for id in [new, accepted, orphan] {
        image(id).await;
    }
    sqlx::query(
        "insert into media (id, team_id, site_id, content_type, group_versions) values ($1, $1, $1, 'image', '{}')",
    )
    .bind(accepted)
    .execute(&pool)
    .await
    .unwrap();
    assert_eq!(forget_orphans(&pool, Pace::Hurried).await.unwrap(), 1);
    // The next sweep goes on there: it looks at what is newer, and not again at the rest.
    let (behind, next) = (old(80), old(65));
    for id in [behind, next] {
        image(id).await;
    }
    assert_eq!(forget_orphans(&pool, Pace::Hurried).await.unwrap(), 1);
    let left: Vec<Uuid> = sqlx::query_scalar("select media_id from media_images order by 1")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert_eq!(left, [accepted, behind, new]);
}
