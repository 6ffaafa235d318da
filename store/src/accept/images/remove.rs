//! Removing images whose submission was not accepted.

use domain::id::MediaId;
use sqlx::PgPool;

pub(super) async fn remove(pool: &PgPool, media: MediaId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from media_images where media_id = $1",
        media.as_uuid()
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Removes images that have had no item for an hour, because no submission is about to use them.
/// Ids of version 7 begin with the milliseconds since 1970.
pub(crate) async fn forget_orphans(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let removed = sqlx::query!(
        "
        delete from media_images i
        where i.media_id < rpad(
            lpad(to_hex((extract(epoch from now() - interval '1 hour') * 1000)::bigint), 12, '0'), 32, '0'
        )::uuid
        and not exists (select from media m where m.id = i.media_id)
        ",
    )
    .execute(pool)
    .await?;
    Ok(removed.rows_affected())
}

#[cfg(test)]
mod tests;
