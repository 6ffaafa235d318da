//! The content of items: text, metadata, image and its address, what providers said word for word, and people's notes, which quote
//! it. What is known of an item stays.
//!
//! Items without content stay in their table, so each site has a place up to which its items were looked at. Items whose content had
//! to stay then are listed, and looked at again each time.

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{MOST, SLICE, Site, due, old_items};
use crate::Error;

/// Removes the content of items that are old enough, site by site and slice by slice, at most about [`MOST`] of each site, and returns
/// of how many. Other processes may do the same at the same time.
pub(crate) async fn forget_contents(pool: &PgPool) -> Result<u64, Error> {
    let mut forgotten = 0;
    for site in sites(pool).await? {
        forgotten += walk(pool, &site).await?;
        forgotten += stragglers(pool, &site).await?;
    }
    Ok(forgotten)
}

async fn sites(pool: &PgPool) -> Result<Vec<Site>, sqlx::Error> {
    sqlx::query_as!(
        Site,
        r#"
        with kept as materialized (
            select id, greatest(content_retention_days, webhook_retention_days) as days
            from sites
            where content_retention_days is not null
        )
        select
            id,
            rpad(
                lpad(to_hex((extract(epoch from now() - make_interval(days => days)) * 1000)::bigint), 12, '0'),
                32, '0'
            )::uuid as "before!",
            days as "days!"
        from kept
        "#,
    )
    .fetch_all(pool)
    .await
}

/// Goes on where the last walk ended.
async fn walk(pool: &PgPool, site: &Site) -> Result<u64, Error> {
    sqlx::query!(
        "insert into content_walks (site_id, walked_to) values ($1, '00000000-0000-0000-0000-000000000000') on conflict do nothing",
        site.id,
    )
    .execute(pool)
    .await?;
    let mut forgotten = 0;
    while forgotten < MOST {
        let mut tx = pool.begin().await?;
        let walked_to = sqlx::query_scalar!(
            "select walked_to from content_walks where site_id = $1 for update skip locked",
            site.id,
        )
        .fetch_optional(&mut *tx)
        .await?;
        let Some(walked_to) = walked_to else {
            // Another process is walking.
            return Ok(forgotten);
        };
        let items = old_items(&mut tx, site, walked_to).await?;
        let Some(last) = items.last() else {
            return Ok(forgotten);
        };
        let due = due(&mut tx, site, &items).await?;
        empty(&mut tx, &due).await?;
        sqlx::query!(
            "
            insert into content_stragglers (site_id, media_id)
            select $1, item from unnest($2::uuid []) items(item) where item <> all($3)
            on conflict do nothing
            ",
            site.id,
            &items,
            &due,
        )
        .execute(&mut *tx)
        .await?;
        sqlx::query!(
            "update content_walks set walked_to = $2 where site_id = $1",
            site.id,
            last,
        )
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        forgotten += due.len() as u64;
    }
    Ok(forgotten)
}

/// Looks again at the items whose content had to stay.
async fn stragglers(pool: &PgPool, site: &Site) -> Result<u64, Error> {
    let mut forgotten = 0;
    let mut after = Uuid::nil();
    loop {
        let mut tx = pool.begin().await?;
        let items = sqlx::query_scalar!(
            "
            select s.media_id
            from content_stragglers s
            where s.site_id = $1 and s.media_id > $2
            order by s.media_id
            limit $3
            for update skip locked
            ",
            site.id,
            after,
            SLICE,
        )
        .fetch_all(&mut *tx)
        .await?;
        let Some(last) = items.last() else {
            return Ok(forgotten);
        };
        after = *last;
        let due = due(&mut tx, site, &items).await?;
        empty(&mut tx, &due).await?;
        sqlx::query!(
            "
            delete from content_stragglers s
            where
                s.site_id = $1 and s.media_id = any($2)
                and (s.media_id = any($3) or not exists (select from media m where m.id = s.media_id))
            ",
            site.id,
            &items,
            &due,
        )
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        forgotten += due.len() as u64;
    }
}

/// Removes the content of these items. The scores of each provider stay.
async fn empty(conn: &mut PgConnection, items: &[Uuid]) -> Result<(), sqlx::Error> {
    for statement in [
        "update media_images set bytes = null where media_id = any($1) and bytes is not null",
        "update analyses a
         set providers = (
             select coalesce(json_agg(r.report::jsonb - 'raw' order by r.place), '[]')
             from json_array_elements(a.providers) with ordinality r(report, place)
         )
         where a.media_id = any($1) and a.providers::text like '%\"raw\"%'",
        "delete from analysis_parts where media_id = any($1)",
        "delete from analysis_image_parts where media_id = any($1)",
        "delete from analysis_pieces where media_id = any($1)",
        "delete from review_notes where media_id = any($1)",
        "update media
         set body = null, content_url = null, metadata = null, content_removed_at = now()
         where id = any($1)",
    ] {
        sqlx::query(statement)
            .bind(items)
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}
