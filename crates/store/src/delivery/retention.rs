//! Events, their deliveries and the attempts of these are forgotten when they are as old as their
//! site wants. A delivery's age counts from its end, and a pending delivery stays. An event stays
//! while it has deliveries. The event of an acceptance stays while its item is pending, so that the
//! acceptance is not told again.

use domain::id::DeliveryId;
use sqlx::{PgConnection, PgPool};
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    Error,
    batches::{Forgotten, Pace},
};

/// Events that one transaction looks at, at most,
const SLICE: usize = 500;

/// and the deliveries that these may have.
const DELIVERIES: usize = 20_000;

/// Events of a site that one sweep looks at. The next sweep goes on there, so that a site with
/// millions of old events does not delay the others for long.
const MOST: usize = 100_000;

/// Removes everything that is old enough, site by site and slice by slice, and counts events and
/// deliveries. Other processes may do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool, pace: Pace) -> Result<Forgotten, Error> {
    forget_within(pool, MOST, pace).await
}

async fn forget_within(pool: &PgPool, most: usize, pace: Pace) -> Result<Forgotten, Error> {
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
        let events = next_events(&mut tx, site, after, most - looked_at).await?;
        let Some(last) = events.last() else {
            if site.walked_to.is_some() {
                forget_place(pool, site).await?;
            }
            return Ok(forgotten);
        };
        let old = lock_old(&mut tx, &events).await?;
        if !old.is_empty() {
            forgotten.removed += forget_slice(&mut tx, site, &old).await?;
        }
        tx.commit().await?;
        after = *last;
        looked_at += events.len();
        pace.pause(begun).await;
    }
    forgotten.has_more = true;
    keep_place(pool, site, after).await?;
    Ok(forgotten)
}

/// The next sweep begins after this event. Items wait for it too.
async fn keep_place(pool: &PgPool, site: &Site, event: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "
        insert into retention_walks (site_id, kind, walked_to)
        values ($1, 'events', $2)
        on conflict (site_id, kind) do update set walked_to = excluded.walked_to
        ",
        site.id,
        event,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// The next sweep begins with the oldest event.
async fn forget_place(pool: &PgPool, site: &Site) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from retention_walks where site_id = $1 and kind = 'events'",
        site.id,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// A site with old events.
struct Site {
    id: Uuid,
    /// Where the last sweep ended, if it did not reach the end.
    walked_to: Option<Uuid>,
    /// Events with smaller ids may be removed.
    before: Uuid,
    days: i32,
    endpoints: Vec<Uuid>,
}

/// Ids of version 7 begin with the milliseconds since 1970.
async fn sites(pool: &PgPool) -> Result<Vec<Site>, sqlx::Error> {
    sqlx::query_as!(
        Site,
        r#"
        with kept as materialized (
            select
                id,
                webhook_retention_days as days,
                rpad(
                    lpad(
                        to_hex((extract(epoch from now() - make_interval(days => webhook_retention_days)) * 1000)::bigint),
                        12, '0'
                    ),
                    32, '0'
                )::uuid as before
            from sites
        ),
        endpoints as materialized (
            select site_id, array_agg(id) as ids from webhook_endpoints group by site_id
        )
        select
            k.id as "id!", w.walked_to as "walked_to?", k.before as "before!", k.days as "days!", coalesce(p.ids, '{}') as "endpoints!"
        from kept k
        left join endpoints p on p.site_id = k.id
        left join retention_walks w on w.site_id = k.id and w.kind = 'events'
        left join lateral (
            select true as is_there
            from events e
            where (e.site_id, e.id) >= (k.id, '00000000-0000-0000-0000-000000000000') and e.site_id = k.id and e.id < k.before
            order by e.site_id, e.id
            limit 1
        ) old on true
        where old.is_there or w.walked_to is not null
        "#,
    )
    .fetch_all(pool)
    .await
}

/// A site's next events of that age, in the order of ids.
async fn next_events(
    conn: &mut PgConnection,
    site: &Site,
    after: Uuid,
    most: usize,
) -> Result<Vec<Uuid>, sqlx::Error> {
    let limit = DELIVERIES / site.endpoints.len().max(1);
    let limit = i64::try_from(limit.clamp(1, SLICE.min(most))).unwrap_or(1);
    sqlx::query_scalar!(
        "
        select e.id
        from events e
        where (e.site_id, e.id) > ($1, $2) and e.site_id = $1 and e.id < $3
        order by e.site_id, e.id
        limit $4
        ",
        site.id,
        after,
        site.before,
        limit,
    )
    .fetch_all(conn)
    .await
}

/// Locks those of these events that may go, in the order of ids. Code that adds a delivery of an old
/// event locks the event too.
async fn lock_old(conn: &mut PgConnection, events: &[Uuid]) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select e.id
        from events e
        where
            e.id = any($1)
            and not exists (
                select from media m where e.kind = 'media.created' and m.id = e.media_id and m.status = 'pending'
            )
        order by e.id
        for update of e skip locked
        ",
        events,
    )
    .fetch_all(conn)
    .await
}

/// Returns how many events and deliveries were removed.
async fn forget_slice(
    conn: &mut PgConnection,
    site: &Site,
    events: &[Uuid],
) -> Result<u64, sqlx::Error> {
    let deliveries = events.iter().flat_map(|event| {
        let endpoints = site.endpoints.iter();
        endpoints.map(|endpoint| DeliveryId::of((*event).into(), (*endpoint).into()).as_uuid())
    });
    let deliveries: Vec<Uuid> = deliveries.collect();
    let ended = forget_deliveries(conn, &deliveries, site.days).await?;
    forget_attempts(conn, &ended).await?;
    let told = forget_events(conn, events, &deliveries).await?;
    Ok(told + ended.len() as u64)
}

/// Removes the old ones of the deliveries, and returns their ids.
async fn forget_deliveries(
    conn: &mut PgConnection,
    deliveries: &[Uuid],
    days: i32,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        delete from deliveries
        where id = any($1) and state <> 'pending' and ended_at <= now() - make_interval(days => $2)
        returning id
        ",
        deliveries,
        days,
    )
    .fetch_all(conn)
    .await
}

async fn forget_attempts(conn: &mut PgConnection, deliveries: &[Uuid]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from delivery_attempts where delivery_id = any($1)",
        deliveries
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes the events that have no deliveries left, and returns how many.
async fn forget_events(
    conn: &mut PgConnection,
    events: &[Uuid],
    deliveries: &[Uuid],
) -> Result<u64, sqlx::Error> {
    let removed = sqlx::query!(
        "
        delete from events
        where id = any($1) and id not in (select event_id from deliveries where id = any($2))
        ",
        events,
        deliveries,
    )
    .execute(conn)
    .await?;
    Ok(removed.rows_affected())
}

#[cfg(test)]
mod tests;
