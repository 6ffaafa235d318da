//! Images that were sent along with a submission that was not accepted.

use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;
use uuid::Uuid;

use crate::batches::Pace;

/// Images that one transaction looks at.
const SLICE: i64 = 5_000;

/// Images that one sweep looks at. The next one goes on there.
const MOST: usize = 500_000;

/// Removes images that have had no item for an hour, because no submission is about to use them, and
/// returns how many. Each image is looked at once: an item that is removed later takes its image with
/// it.
pub(crate) async fn forget_orphans(pool: &PgPool, pace: Pace) -> Result<u64, sqlx::Error> {
    let mut removed = 0;
    let mut looked_at = 0;
    begin_walk(pool).await?;
    while looked_at < MOST {
        let begun = Instant::now();
        let mut tx = pool.begin().await?;
        let Some(walked_to) = lock_walk(&mut tx).await? else {
            // Another process is walking.
            break;
        };
        let images = next_images(&mut tx, walked_to).await?;
        let Some(last) = images.last() else {
            break;
        };
        removed += forget_some(&mut tx, &images).await?;
        move_walk(&mut tx, *last).await?;
        tx.commit().await?;
        looked_at += images.len();
        pace.pause(begun).await;
    }
    Ok(removed)
}

async fn begin_walk(pool: &PgPool) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into retention_walks (site_id, kind, walked_to)
        values ('00000000-0000-0000-0000-000000000000', 'orphans', '00000000-0000-0000-0000-000000000000')
        on conflict do nothing
        ",
    )
    .execute(pool)
    .await?;
    Ok(())
}

async fn lock_walk(conn: &mut PgConnection) -> Result<Option<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select walked_to
        from retention_walks
        where site_id = '00000000-0000-0000-0000-000000000000' and kind = 'orphans'
        for update skip locked
        ",
    )
    .fetch_optional(conn)
    .await
}

/// The next images that are an hour old, in the order of ids. Ids of version 7 begin with the
/// milliseconds since 1970.
async fn next_images(conn: &mut PgConnection, after: Uuid) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select media_id
        from media_images
        where
            media_id > $1
            and media_id < rpad(
                lpad(to_hex((extract(epoch from now() - interval '1 hour') * 1000)::bigint), 12, '0'), 32, '0'
            )::uuid
        order by media_id
        limit $2
        ",
        after,
        SLICE,
    )
    .fetch_all(conn)
    .await
}

async fn forget_some(conn: &mut PgConnection, images: &[Uuid]) -> Result<u64, sqlx::Error> {
    let removed = sqlx::query!(
        "
        delete from media_images i
        where i.media_id = any($1) and not exists (select from media m where m.id = i.media_id)
        ",
        images,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}

async fn move_walk(conn: &mut PgConnection, image: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        update retention_walks
        set walked_to = $1
        where site_id = '00000000-0000-0000-0000-000000000000' and kind = 'orphans'
        ",
        image,
    )
    .execute(conn)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests;
