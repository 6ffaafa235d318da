//! Whole items.

use sqlx::PgPool;
use uuid::Uuid;

use super::{super::remove::remove, MOST, Site, due, old_items};
use crate::Error;

/// Removes what is old enough, site by site and slice by slice, at most about [`MOST`] of each site, and returns how many items that
/// were. Other processes may do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let mut removed = 0;
    for site in sites(pool).await? {
        let mut after = Uuid::nil();
        let most = removed + MOST;
        while removed < most {
            let mut tx = pool.begin().await?;
            let items = old_items(&mut tx, &site, after).await?;
            let Some(last) = items.last() else {
                break;
            };
            after = *last;
            let due = due(&mut tx, &site, &items).await?;
            remove(&mut tx, &due).await?;
            tx.commit().await?;
            removed += due.len() as u64;
        }
    }
    Ok(removed)
}

async fn sites(pool: &PgPool) -> Result<Vec<Site>, sqlx::Error> {
    sqlx::query_as!(
        Site,
        r#"
        with kept as materialized (
            select id, greatest(item_retention_days, webhook_retention_days) as days
            from sites
            where item_retention_days is not null
        ),
        bounds as materialized (
            select
                id,
                days,
                rpad(
                    lpad(to_hex((extract(epoch from now() - make_interval(days => days)) * 1000)::bigint), 12, '0'),
                    32, '0'
                )::uuid as before
            from kept
        )
        select b.id, b.before as "before!", b.days as "days!"
        from bounds b
        where
            exists (
                select
                from media m
                where (m.site_id, m.id) >= (b.id, '00000000-0000-0000-0000-000000000000') and (m.site_id, m.id) < (b.id, b.before)
            )
        "#,
    )
    .fetch_all(pool)
    .await
}
