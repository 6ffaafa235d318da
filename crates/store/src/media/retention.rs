//! Items and their contents are forgotten when the last verdict is as old as their site wants. An item stays as it is while it
//! waits for a verdict or a person, while the desk knows its answer, and while an event tells of it.
//!
//! Each site has a place up to which its items were looked at ([`old_items`]). Items that had to stay then are listed, and looked at again
//! after a pause that grows ([`postponed`]). One sweep looks at a bounded number of a site's items, so that a site with millions of
//! them does not delay the others for long.

mod postponed;
mod preview;

use std::collections::HashSet;

use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;
use uuid::Uuid;

pub(crate) use self::postponed::look_again_at_all;
pub use self::preview::{Content, RetentionPreview, retention_preview};
use super::remove;
use crate::{
    Error,
    batches::{Forgotten, Pace},
    id_time::time_of,
    legal_hold::held,
};

/// Items that one transaction looks at, at most.
const SLICE: u64 = 500;

/// What is forgotten of an item.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// All of it.
    Items,
    /// Text, metadata, image and its address, what providers said word for word, and people's notes, which quote it. What is known of
    /// the item stays.
    Contents,
}

impl Kind {
    /// The name in the database.
    fn as_str(self) -> &'static str {
        match self {
            Self::Items => "items",
            Self::Contents => "contents",
        }
    }

    /// Forgets it of these items, whose events must be gone.
    async fn forget(self, conn: &mut PgConnection, items: &[Uuid]) -> Result<(), sqlx::Error> {
        match self {
            Self::Items => remove(conn, items).await,
            Self::Contents => empty(conn, items).await,
        }
    }
}

/// How much one sweep does for a site, at most.
#[derive(Clone, Copy)]
struct Bounds {
    /// Items that it looks at for the first time.
    walked: u64,
    /// Items that it looks at again.
    again: u64,
    /// Old events whose items it keeps in memory, 16 bytes each.
    told: u64,
    /// How fast its slices follow each other.
    pace: Pace,
}

impl Bounds {
    const fn usual(pace: Pace) -> Self {
        Self {
            walked: 100_000,
            again: 10_000,
            told: 100_000,
            pace,
        }
    }
}

/// Forgets what is old enough, site by site and slice by slice. Other processes may do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool, kind: Kind, pace: Pace) -> Result<Forgotten, Error> {
    forget_within(pool, kind, Bounds::usual(pace)).await
}

async fn forget_within(pool: &PgPool, kind: Kind, bounds: Bounds) -> Result<Forgotten, Error> {
    let mut forgotten = Forgotten::default();
    let mut failed = None;
    for site in sites(pool, kind).await? {
        // Whatever is wrong with one site, the others have their turn.
        match forget_of(pool, kind, &site, bounds).await {
            Ok(of_site) => forgotten += of_site,
            Err(error) => failed = Some(error),
        }
    }
    postponed::forget_unwanted(pool, kind, bounds).await?;
    failed.map_or(Ok(forgotten), Err)
}

async fn forget_of(
    pool: &PgPool,
    kind: Kind,
    site: &Site,
    bounds: Bounds,
) -> Result<Forgotten, Error> {
    let told = Told::read(pool, site, bounds.told).await?;
    let mut forgotten = go_on(pool, kind, site, &told, bounds).await?;
    forgotten += postponed::look_again(pool, kind, site, &told, bounds).await?;
    Ok(forgotten)
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

/// Items that old events of a site tell of. These events are still there because their deliveries have not ended long ago.
struct Told {
    items: HashSet<Uuid>,
    /// All events with smaller ids were read.
    before: Uuid,
}

impl Told {
    /// Reads at most so many events, the oldest first.
    async fn read(pool: &PgPool, site: &Site, most: u64) -> Result<Self, sqlx::Error> {
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
async fn due(
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

/// A site with old items that were not looked at yet, or that are to be looked at again.
struct Site {
    id: Uuid,
    /// Items and events with smaller ids may be old enough. Ids of version 7 begin with the milliseconds since 1970.
    before: Uuid,
}

async fn sites(pool: &PgPool, kind: Kind) -> Result<Vec<Site>, sqlx::Error> {
    sqlx::query_as!(
        Site,
        r#"
        with wanted as (
            select
                id, webhook_retention_days,
                case $1 when 'items' then item_retention_days else content_retention_days end as days
            from sites
        ),
        bounds as materialized (
            select
                s.id,
                coalesce(w.walked_to, '00000000-0000-0000-0000-000000000000') as walked_to,
                -- An item stays as long as its events, at least, and waits until these were looked at.
                least(
                    rpad(
                        lpad(
                            to_hex(
                                (
                                    extract(
                                        epoch from now() - make_interval(days => greatest(s.days, s.webhook_retention_days))
                                    ) * 1000
                                )::bigint
                            ),
                            12, '0'
                        ),
                        32, '0'
                    )::uuid,
                    e.walked_to
                ) as before
            from wanted s
            left join retention_walks w on w.site_id = s.id and w.kind = $1
            left join retention_walks e on e.site_id = s.id and e.kind = 'events'
            where s.days is not null
        )
        select b.id, b.before as "before!"
        from bounds b
        where
            exists (
                select
                from media m
                where (m.site_id, m.id) > (b.id, b.walked_to) and m.site_id = b.id and m.id < b.before
            )
            or exists (
                select
                from retention_stragglers s
                where s.site_id = b.id and s.kind = $1 and s.due_at <= now()
            )
        "#,
        kind.as_str(),
    )
    .fetch_all(pool)
    .await
}

/// Goes on where the last walk ended, and looks at a bounded number of items.
async fn go_on(
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

#[cfg(test)]
mod tests;
