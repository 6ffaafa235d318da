//! Which items may be forgotten.

use std::collections::HashSet;

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use super::{Kind, due_sites::Site};
use crate::{id_time::time_of, legal_hold::held};

/// Items that old events of a site tell of. These events are still there because their deliveries have not ended long ago.
pub(super) struct Told {
    items: HashSet<Uuid>,
    /// All events with smaller ids were read.
    pub(super) before: Uuid,
}

impl Told {
    /// Reads at most so many events, the oldest first.
    pub(super) async fn read(pool: &PgPool, site: &Site, most: u64) -> Result<Self, sqlx::Error> {
        let events = sqlx::query!(
            "
            select e.id, e.media_id
            from events e
            where (e.site_id, e.id) > ($1, '00000000-0000-0000-0000-000000000000') and e.site_id = $1 and e.id < $2
            order by e.site_id, e.id
            limit $3
            ",
            site.id,
            site.before,
            most.cast_signed(),
        )
        .fetch_all(pool)
        .await?;
        let last = events.last().filter(|_| events.len() as u64 >= most);
        Ok(Self {
            before: last.map_or(site.before, |last| last.id),
            items: events.into_iter().map(|event| event.media_id).collect(),
        })
    }
}

/// Locks those of these items of one site that may be forgotten.
pub(super) async fn due(
    conn: &mut PgConnection,
    kind: Kind,
    told: &Told,
    items: &[Uuid],
) -> Result<Vec<Uuid>, sqlx::Error> {
    let items = items.iter().copied();
    let items: Vec<Uuid> = items.filter(|item| !told.items.contains(item)).collect();
    let held: HashSet<Uuid> = held(conn, &items).await?.into_iter().collect();
    let items = items.into_iter().filter(|item| !held.contains(item));
    let items: Vec<Uuid> = items.collect();
    sqlx::query_scalar!(
        "
        select m.id
        from media m
        join verdicts v on v.media_id = m.id and v.number = m.verdict
        where
            m.id = any($1)
            and (m.status in ('approved', 'rejected') or m.erased_at is not null)
            and v.moderated_at < $2
            and ($3 = 'items' or m.content_removed_at is null)
            and not exists (select from golden_items g where g.media_id = m.id)
            and not exists (select from review_tasks r where r.media_id = m.id)
        for update of m skip locked
        ",
        &items,
        // A verdict is as old as its event.
        time_of(told.before),
        kind.as_str(),
    )
    .fetch_all(conn)
    .await
}
