//! One item with everything about it, and its image.

use domain::{image::ImageFormat, media::Status, reach::Reach};
use sqlx::PgPool;
use store::media::{Item, SLICE, find, image, image_slice};

use crate::tenant::Tenant;

#[sqlx::test(migrations = false)]
async fn an_image_is_read_in_slices_that_are_the_whole(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other = Tenant::another(&fixture.pool, "other").await;
    let media = fixture.item().await;
    let slice = usize::try_from(SLICE).unwrap();
    let bytes: Vec<u8> = (0..=255).cycle().take(2 * slice + 3).collect();
    sqlx::query("insert into media_images (media_id, format, bytes) values ($1, 'png', $2)")
        .bind(media.as_uuid())
        .bind(&bytes)
        .execute(&fixture.pool)
        .await
        .unwrap();
    let mut conn = fixture.pool.acquire().await.unwrap();

    let found = image(&mut conn, Reach::Team(fixture.team), media)
        .await
        .unwrap();
    let found = found.unwrap();
    assert_eq!(found.format, ImageFormat::Png);
    assert_eq!(found.bytes as usize, bytes.len());
    let mut read = Vec::new();
    for from in [0, SLICE, 2 * SLICE] {
        read.extend(
            image_slice(&fixture.pool, found, from)
                .await
                .unwrap()
                .unwrap(),
        );
    }
    assert!(read == bytes, "the slices are not the whole");

    let theirs = image(&mut conn, Reach::Team(other.team), media)
        .await
        .unwrap();
    assert!(theirs.is_none());
    sqlx::query("delete from media_images")
        .execute(&mut *conn)
        .await
        .unwrap();
    let gone = image_slice(&fixture.pool, found, 0).await.unwrap();
    assert!(gone.is_none());
}

#[sqlx::test(migrations = false)]
async fn an_item_is_its_teams_and_an_operators(pool: PgPool) {
    let fixture = Tenant::new(pool).await;
    let other = Tenant::another(&fixture.pool, "other").await;
    let media = fixture.item().await;
    fixture.judge(media, Status::Approved).await;
    let found = |item: Option<Item>| item.map(|item| (item.media, item.verdicts.len()));
    let mut conn = fixture.pool.acquire().await.unwrap();
    let mut ask = async |team| found(find(&mut conn, team, media).await.unwrap());
    assert_eq!(ask(Reach::Team(fixture.team)).await, Some((media, 1)));
    assert_eq!(ask(Reach::Everything).await, Some((media, 1)));
    assert_eq!(ask(Reach::Team(other.team)).await, None);
}
