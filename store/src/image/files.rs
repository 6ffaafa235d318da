//! The files of images: stored before the step ends, removed long after their items were decided.

use domain::{id::MediaId, image::ImageFormat};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::{Error, hold::held};

/// The bytes of an item's image; none if they are not stored, or no longer.
pub async fn bytes(pool: &PgPool, media: MediaId) -> Result<Option<Vec<u8>>, Error> {
    let bytes = sqlx::query_scalar!(
        "select bytes from media_images where media_id = $1",
        media.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    Ok(bytes.flatten())
}

/// Stores the bytes of a pending item's image. False: another run has stored the image before, and
/// that one counts.
pub async fn keep(
    pool: &PgPool,
    media: MediaId,
    format: ImageFormat,
    bytes: &[u8],
) -> Result<bool, Error> {
    let kept = sqlx::query!(
        "
        insert into media_images (media_id, site_id, format, bytes)
        select id, site_id, $2, $3 from media where id = $1 and status = 'pending'
        on conflict (media_id) do nothing
        ",
        media.as_uuid(),
        format.as_str(),
        bytes,
    )
    .execute(pool)
    .await?;
    Ok(kept.rows_affected() > 0)
}

/// Removes files of images whose items were decided long enough ago: each site sets after how many
/// days. What is known of the images stays. Removes at most [`REMOVED`] files, and returns how
/// many.
pub(crate) async fn forget_files(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let mut tx = pool.begin().await?;
    let due = due_files(&mut tx).await?;
    // A hold may have been made at this moment.
    let held = held(&mut tx, &due).await?;
    let due = due.into_iter().filter(|item| !held.contains(item));
    let due: Vec<Uuid> = due.collect();
    let removed = sqlx::query!(
        "update media_images set bytes = null where media_id = any($1) and bytes is not null",
        &due,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    Ok(removed.rows_affected())
}

async fn due_files(conn: &mut PgConnection) -> Result<Vec<Uuid>, sqlx::Error> {
    // An item is older than its last verdict, and ids of version 7 begin with the milliseconds
    // since 1970: so the index shows where the old images of a site end. Of those, only images of
    // items that wait for a person or are held are read in vain.
    sqlx::query_scalar!(
        r#"
        with old as (
            select i.media_id, s.image_retention_days as days
            from sites s
            join media_images i on i.site_id = s.id and i.bytes is not null
            where i.media_id < rpad(
                lpad(
                    to_hex((extract(epoch from now() - make_interval(days => s.image_retention_days)) * 1000)::bigint),
                    12, '0'
                ),
                32, '0'
            )::uuid
            union all
            -- Of earlier versions, while they still run.
            select i.media_id, s.image_retention_days
            from media_images i
            join media m on m.id = i.media_id
            join sites s on s.id = m.site_id
            where i.site_id is null and i.bytes is not null
        )
        select o.media_id as "media_id!"
        from old o
        join media m on m.id = o.media_id and m.status in ('approved', 'rejected')
        join verdicts v on v.media_id = m.id and v.number = m.verdict
        where v.moderated_at < now() - make_interval(days => o.days) and not is_held(m.site_id, m.id, m.author)
        limit $1
        "#,
        REMOVED,
    )
    .fetch_all(conn)
    .await
}

/// Files that one statement removes: up to a gigabyte.
const REMOVED: i64 = 100;

#[cfg(test)]
mod tests;
