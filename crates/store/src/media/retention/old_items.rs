//! Old items that were not looked at yet.

use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;
use uuid::Uuid;

use super::{
    Bounds, Kind, SLICE,
    due::{Told, due},
    due_sites::Site,
    postponed,
};
use crate::{Error, batches::Forgotten};

/// Goes on where the last walk ended, and looks at a bounded number of items.
pub(super) async fn go_on(
    pool: &PgPool,
    kind: Kind,
    site: &Site,
    told: &Told,
    bounds: Bounds,
) -> Result<Forgotten, Error> {
    sqlx::query!(
        "
        insert into retention_walks (site_id, kind, walked_to)
        values ($1, $2, '00000000-0000-0000-0000-000000000000')
        on conflict do nothing
        ",
        site.id,
        kind.as_str(),
    )
    .execute(pool)
    .await?;
    let mut forgotten = Forgotten::default();
    let mut left = bounds.walked;
    while left > 0 {
        let begun = Instant::now();
        let mut tx = pool.begin().await?;
        let Some(walked_to) = lock(&mut tx, kind, site).await? else {
            // Another process is walking.
            return Ok(forgotten);
        };
        let items = old_items(&mut tx, site, (walked_to, told.before), left.min(SLICE)).await?;
        let Some(last) = items.last() else {
            return Ok(forgotten);
        };
        let due = due(&mut tx, kind, told, &items).await?;
        kind.forget(&mut tx, &due).await?;
        postponed::add(&mut tx, kind, site, &items).await?;
        move_to(&mut tx, kind, site, *last).await?;
        tx.commit().await?;
        forgotten.removed += due.len() as u64;
        left -= items.len() as u64;
        bounds.pace.pause(begun).await;
    }
    forgotten.has_more = true;
    Ok(forgotten)
}

/// Locks the place up to which the site was looked at, unless another process has locked it.
async fn lock(
    conn: &mut PgConnection,
    kind: Kind,
    site: &Site,
) -> Result<Option<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "select walked_to from retention_walks where site_id = $1 and kind = $2 for update skip locked",
        site.id,
        kind.as_str(),
    )
    .fetch_optional(conn)
    .await
}

/// The site's next items after one id and before another, in the order of ids.
async fn old_items(
    conn: &mut PgConnection,
    site: &Site,
    (after, before): (Uuid, Uuid),
    most: u64,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select m.id
        from media m
        where (m.site_id, m.id) > ($1, $2) and m.site_id = $1 and m.id < $3
        order by m.site_id, m.id
        limit $4
        ",
        site.id,
        after,
        before,
        most.cast_signed(),
    )
    .fetch_all(conn)
    .await
}

async fn move_to(
    conn: &mut PgConnection,
    kind: Kind,
    site: &Site,
    item: Uuid,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update retention_walks set walked_to = $3 where site_id = $1 and kind = $2",
        site.id,
        kind.as_str(),
        item,
    )
    .execute(conn)
    .await?;
    Ok(())
}
