//! Postponed items, which had to stay, or to keep their content, when they were looked at. They are looked at again after ten minutes, then after
//! twice as long each time, and once a day in the end.

use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;
use uuid::Uuid;

use super::{Bounds, Kind, SLICE, Site, Told, due};
use crate::{
    Error,
    batches::{Forgotten, Pace, ROWS, until_none},
};

/// Lists the items that still have something to remove.
pub(super) async fn add(
    conn: &mut PgConnection,
    kind: Kind,
    site: &Site,
    items: &[Uuid],
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into retention_stragglers (site_id, kind, media_id, due_at, pause)
        select $1, $2, m.id, now() + interval '10 minutes', interval '20 minutes'
        from media m
        where m.id = any($3) and ($2 = 'items' or m.content_removed_at is null)
        on conflict do nothing
        ",
        site.id,
        kind.as_str(),
        items,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Looks again at a bounded number of the listed items: those that have waited longest.
pub(super) async fn look_again(
    pool: &PgPool,
    kind: Kind,
    site: &Site,
    told: &Told,
    bounds: Bounds,
) -> Result<Forgotten, Error> {
    let mut forgotten = Forgotten::default();
    let mut left = bounds.again;
    while left > 0 {
        let begun = Instant::now();
        let mut tx = pool.begin().await?;
        let items = next(&mut tx, kind, site, left.min(SLICE)).await?;
        if items.is_empty() {
            return Ok(forgotten);
        }
        let due = due(&mut tx, kind, told, &items).await?;
        kind.forget(&mut tx, &due).await?;
        settle(&mut tx, kind, site, &items).await?;
        tx.commit().await?;
        forgotten.removed += due.len() as u64;
        left -= items.len() as u64;
        bounds.pace.pause(begun).await;
    }
    forgotten.has_more = true;
    Ok(forgotten)
}

/// Locks the next items that are to be looked at again.
async fn next(
    conn: &mut PgConnection,
    kind: Kind,
    site: &Site,
    most: u64,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select s.media_id
        from retention_stragglers s
        where s.site_id = $1 and s.kind = $2 and s.due_at <= now()
        order by s.due_at
        limit $3
        for update skip locked
        ",
        site.id,
        kind.as_str(),
        most.cast_signed(),
    )
    .fetch_all(conn)
    .await
}

/// Takes items off the list that have nothing left to forget, and sets the time at which to look at the others again.
async fn settle(
    conn: &mut PgConnection,
    kind: Kind,
    site: &Site,
    items: &[Uuid],
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        delete from retention_stragglers s
        where
            s.site_id = $1 and s.kind = $2 and s.media_id = any($3)
            and not exists (
                select from media m where m.id = s.media_id and ($2 = 'items' or m.content_removed_at is null)
            )
        ",
        site.id,
        kind.as_str(),
        items,
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "
        update retention_stragglers
        set due_at = now() + pause, pause = least(pause * 2, interval '1 day')
        where site_id = $1 and kind = $2 and media_id = any($3)
        ",
        site.id,
        kind.as_str(),
        items,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Makes all listed items due, for a command that is to leave nothing behind.
pub(crate) async fn look_again_at_all(pool: &PgPool) -> Result<(), Error> {
    until_none(Pace::Hurried, || make_due(pool)).await?;
    Ok(())
}

async fn make_due(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let made = sqlx::query!(
        "
        update retention_stragglers
        set due_at = now()
        where ctid = any(
            array(select ctid from retention_stragglers where due_at > now() limit $1 for update skip locked)
        )
        ",
        ROWS,
    )
    .execute(pool)
    .await?;
    Ok(made.rows_affected())
}

/// Removes a bounded number of rows of sites that want to keep everything by now. If such a site changes its mind, all of its items
/// are looked at again.
pub(super) async fn forget_unwanted(
    pool: &PgPool,
    kind: Kind,
    bounds: Bounds,
) -> Result<(), Error> {
    let mut left = bounds.walked;
    while left > 0 {
        let begun = Instant::now();
        let mut tx = pool.begin().await?;
        let Some(site) = lock_unwanted(&mut tx, kind).await? else {
            return Ok(());
        };
        let removed = forget_some_of(&mut tx, kind, site).await?;
        if removed == 0 {
            forget_walk(&mut tx, kind, site).await?;
        }
        tx.commit().await?;
        left = left.saturating_sub(removed.max(1));
        bounds.pace.pause(begun).await;
    }
    Ok(())
}

/// Nothing is added to a site's list without this lock.
async fn lock_unwanted(conn: &mut PgConnection, kind: Kind) -> Result<Option<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select w.site_id
        from retention_walks w
        join sites s on s.id = w.site_id
        where w.kind = $1 and case $1 when 'items' then s.item_retention_days else s.content_retention_days end is null
        limit 1
        for update of w skip locked
        ",
        kind.as_str(),
    )
    .fetch_optional(conn)
    .await
}

async fn forget_some_of(
    conn: &mut PgConnection,
    kind: Kind,
    site: Uuid,
) -> Result<u64, sqlx::Error> {
    let removed = sqlx::query!(
        "
        delete from retention_stragglers
        where ctid = any(array(select ctid from retention_stragglers where site_id = $1 and kind = $2 limit $3))
        ",
        site,
        kind.as_str(),
        ROWS,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}

async fn forget_walk(conn: &mut PgConnection, kind: Kind, site: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from retention_walks where site_id = $1 and kind = $2",
        site,
        kind.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
