//! Items and their contents are forgotten when the last verdict is as old as their site wants. An item stays as it is while it
//! waits for a verdict or a person, while the desk knows its answer, and while an event tells of it.

mod content;
mod items;

use sqlx::PgConnection;
use uuid::Uuid;

pub(crate) use self::{content::forget_contents, items::forget_old};

/// Items that one transaction looks at, at most.
const SLICE: i64 = 500;

/// Items of a site that one sweep forgets, about. What is left waits for the next sweep, so that a site that lets millions expire does
/// not delay the others for long.
const MOST: u64 = 100_000;

/// A site with old items.
struct Site {
    id: Uuid,
    /// Items and events with smaller ids may be old enough. Ids of version 7 begin with the milliseconds since 1970.
    before: Uuid,
    /// An item is kept as long as its events, at least.
    days: i32,
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

/// Locks those of them that may be forgotten.
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
