//! Which items a scan looks at next, and the hashes of their images.

use domain::{
    id::MediaId,
    image_hash::{Hashed, MIN_QUALITY, Pdq, Sha256Digest},
};
use sqlx::PgPool;
use uuid::Uuid;

use super::SLICE;
use crate::{Error, hash_list::matches};

/// The next items of a team's sites.
pub(super) async fn walk_team(pool: &PgPool, team: Uuid, before: Uuid) -> Result<Vec<Uuid>, Error> {
    let walked = sqlx::query_scalar!(
        r#"
        select w.id as "id!"
        from sites s
        cross join lateral (
            select m.id from media m where m.site_id = s.id and m.id < $2 order by m.id desc limit $3
        ) w
        where s.team_id = $1
        order by w.id desc
        limit $3
        "#,
        team,
        before,
        SLICE,
    )
    .fetch_all(pool)
    .await?;
    Ok(walked)
}

/// The next items with images.
pub(super) async fn walk_all(pool: &PgPool, before: Uuid) -> Result<Vec<Uuid>, Error> {
    let walked = sqlx::query_scalar!(
        "select media_id from media_images where media_id < $1 order by media_id desc limit $2",
        before,
        SLICE,
    )
    .fetch_all(pool)
    .await?;
    Ok(walked)
}

/// The images of these items that have hashes, the newest first.
pub(super) async fn images(pool: &PgPool, media: &[Uuid]) -> Result<Vec<(MediaId, Hashed)>, Error> {
    let rows = sqlx::query!(
        r#"
        select i.media_id, i.sha256 as "sha256!", i.pdq
        from media_images i
        -- Inline images of submissions that were refused have no item.
        join media m on m.id = i.media_id
        where i.media_id = any($1) and i.sha256 is not null
        order by i.media_id desc
        "#,
        media,
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            let sha256 = matches::bytes(Some(row.sha256))?.unwrap_or_default();
            let hashed = Hashed {
                sha256: Sha256Digest::from(sha256),
                pdq: matches::bytes(row.pdq)?.map(Pdq::from),
                // Hashes are stored only if their quality is sufficient.
                quality: MIN_QUALITY,
            };
            Ok((row.media_id.into(), hashed))
        })
        .collect()
}
