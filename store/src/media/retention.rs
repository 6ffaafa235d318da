//! Items are forgotten when their last verdict is as old as their site wants. An item stays while it waits for a verdict or a
//! person, while the desk knows its answer, and while an event tells of it.

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::remove::remove;
use crate::Error;

/// Items that one transaction looks at, at most.
const SLICE: i64 = 500;

/// Removes everything that is old enough, site by site and slice by slice, and returns how many items that were. Other processes
/// may do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let mut removed = 0;
    for site in sites(pool).await? {
        let mut after = Uuid::nil();
        loop {
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

/// A site with old items.
struct Site {
    id: Uuid,
    /// Items and events with smaller ids may be removed.
    before: Uuid,
    days: i32,
}

/// Ids of version 7 begin with the milliseconds since 1970. An item is kept as long as its events, at least.
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

/// A site's next old items, in the order of ids.
async fn old_items(
    conn: &mut PgConnection,
    site: &Site,
    after: Uuid,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select m.id
        from media m
        where (m.site_id, m.id) > ($1, $2) and (m.site_id, m.id) < ($1, $3)
        order by m.site_id, m.id
        limit $4
        ",
        site.id,
        after,
        site.before,
        SLICE,
    )
    .fetch_all(conn)
    .await
}

/// Locks those of them that may go.
async fn due(
    conn: &mut PgConnection,
    site: &Site,
    items: &[Uuid],
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        with told as materialized (
            -- Events that are old, too, and still there: their deliveries have not ended long ago.
            select e.media_id
            from events e
            where (e.site_id, e.id) >= ($1, '00000000-0000-0000-0000-000000000000') and (e.site_id, e.id) < ($1, $2)
        )
        select m.id
        from media m
        join verdicts v on v.media_id = m.id and v.number = m.verdict
        where
            m.id = any($4)
            and m.status in ('approved', 'rejected')
            and v.moderated_at < now() - make_interval(days => $3)
            and m.id not in (select t.media_id from told t)
            and not exists (select from golden_items g where g.media_id = m.id)
            and not exists (select from review_tasks r where r.media_id = m.id)
        for update of m skip locked
        ",
        site.id,
        site.before,
        site.days,
        items,
    )
    .fetch_all(conn)
    .await
}

#[cfg(test)]
mod tests;
