//! The files of images: stored before the step ends, removed long after their items were decided ([`retention`]).

pub(crate) mod retention;

use domain::{id::MediaId, image::ImageFormat};
use sqlx::PgPool;

use crate::Error;

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

#[cfg(test)]
mod tests;
