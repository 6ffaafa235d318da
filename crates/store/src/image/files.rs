//! The files of images: stored before the step ends, removed long after their items were decided.
//!
//! Each site sets after how many days files are removed. What is known of the images stays. Files of
//! items that wait for a person or are held stay, too, so one sweep looks at a bounded number of a
//! site's files, and the next one goes on there.

use domain::{id::MediaId, image::ImageFormat};
use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    Error,
    batches::{Forgotten, Pace, until_none},
    legal_hold::held,
};

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

/// Files that one transaction looks at, and removes, at most: up to a gigabyte.
const SLICE: usize = 100;

/// Files of a site that one sweep looks at.
const MOST: usize = 100_000;

/// Removes the files that are old enough, site by site and slice by slice. Other processes may do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool, pace: Pace) -> Result<Forgotten, Error> {
    forget_within(pool, MOST, pace).await
}

async fn forget_within(pool: &PgPool, most: usize, pace: Pace) -> Result<Forgotten, Error> {
    until_none(pace, || name_sites(pool)).await?;
    let mut forgotten = Forgotten::default();
    let mut failed = None;
    for site in sites(pool).await? {
        // Whatever is wrong with one site, the others have their turn.
        match forget_of(pool, &site, most, pace).await {
            Ok(of_site) => forgotten += of_site,
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(forgotten), Err)
}

/// Images that earlier versions stored do not name their site. Only such are found by the index of files.
async fn name_sites(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let named = sqlx::query!(
        "
        update media_images i
        set site_id = m.site_id
        from media m
        where
            m.id = i.media_id
            and i.media_id = any(
                array(
                    select media_id from media_images
                    where site_id is null and bytes is not null
                    order by site_id, media_id
                    limit $1
                    for update skip locked
                )
            )
        ",
        NAMED,
    )
    .execute(pool)
    .await?;
    Ok(named.rows_affected())
}

/// Rows that get their site in one statement. It does not write the files again.
const NAMED: i64 = 500;

async fn forget_of(
    pool: &PgPool,
    site: &Site,
    most: usize,
    pace: Pace,
) -> Result<Forgotten, Error> {
    let mut forgotten = Forgotten::default();
    let mut after = site.walked_to.unwrap_or_default();
    let mut looked_at = 0;
    while looked_at < most {
        let begun = Instant::now();
        let mut tx = pool.begin().await?;
        let files = next_files(&mut tx, site, after, SLICE.min(most - looked_at)).await?;
        let Some(last) = files.last() else {
            if site.walked_to.is_some() {
                forget_place(&mut tx, site).await?;
                tx.commit().await?;
            }
            return Ok(forgotten);
        };
        forgotten.removed += forget_some(&mut tx, site, &files).await?;
        after = *last;
        looked_at += files.len();
        tx.commit().await?;
        pace.pause(begun).await;
    }
    forgotten.has_more = true;
    keep_place(pool, site, after).await?;
    Ok(forgotten)
}

/// A site with old files.
struct Site {
    id: Uuid,
    /// Where the last sweep ended, if it did not reach the end.
    walked_to: Option<Uuid>,
    /// Files of items with smaller ids may be removed: an item is older than its verdict, and ids of version 7 begin with the
    /// milliseconds since 1970.
    before: Uuid,
    days: i32,
}

async fn sites(pool: &PgPool) -> Result<Vec<Site>, sqlx::Error> {
    sqlx::query_as!(
        Site,
        r#"
        with kept as materialized (
            select
                id,
                image_retention_days as days,
                rpad(
                    lpad(
                        to_hex((extract(epoch from now() - make_interval(days => image_retention_days)) * 1000)::bigint),
                        12, '0'
                    ),
                    32, '0'
                )::uuid as before
            from sites
        )
        select k.id, w.walked_to as "walked_to?", k.before as "before!", k.days
        from kept k
        left join retention_walks w on w.site_id = k.id and w.kind = 'files'
        left join lateral (
            select true as is_there
            from media_images i
            where
                (i.site_id, i.media_id) > (k.id, '00000000-0000-0000-0000-000000000000')
                and i.site_id = k.id and i.media_id < k.before and i.bytes is not null
            order by i.site_id, i.media_id
            limit 1
        ) old on true
        where old.is_there or w.walked_to is not null
        "#,
    )
    .fetch_all(pool)
    .await
}

/// A site's next files of that age, in the order of their items.
async fn next_files(
    conn: &mut PgConnection,
    site: &Site,
    after: Uuid,
    most: usize,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select media_id
        from media_images
        where (site_id, media_id) > ($1, $2) and site_id = $1 and media_id < $3 and bytes is not null
        order by site_id, media_id
        limit $4
        ",
        site.id,
        after,
        site.before,
        i64::try_from(most).unwrap_or(i64::MAX),
    )
    .fetch_all(conn)
    .await
}

/// Removes those of these files whose items were decided long enough ago, and returns how many.
async fn forget_some(
    conn: &mut PgConnection,
    site: &Site,
    files: &[Uuid],
) -> Result<u64, sqlx::Error> {
    let held = held(conn, files).await?;
    let free = files.iter().copied().filter(|item| !held.contains(item));
    let free: Vec<Uuid> = free.collect();
    let removed = sqlx::query!(
        "
        update media_images i
        set bytes = null
        from media m
        join verdicts v on v.media_id = m.id and v.number = m.verdict
        where
            i.media_id = any($1) and i.bytes is not null
            and m.id = i.media_id and m.status in ('approved', 'rejected')
            and v.moderated_at < now() - make_interval(days => $2)
        ",
        &free,
        site.days,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}

/// The next sweep begins after this file.
async fn keep_place(pool: &PgPool, site: &Site, item: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into retention_walks (site_id, kind, walked_to)
        values ($1, 'files', $2)
        on conflict (site_id, kind) do update set walked_to = excluded.walked_to
        ",
        site.id,
        item,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// The next sweep begins with the oldest file.
async fn forget_place(conn: &mut PgConnection, site: &Site) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from retention_walks where site_id = $1 and kind = 'files'",
        site.id,
    )
    .execute(conn)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests;
