//! Events, their deliveries and the attempts of these are forgotten when they are as old as their site wants. A delivery is as
//! old as its end, and stays while it is pending; an event stays while it has deliveries.

use std::collections::HashSet;

use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::Error;

/// Events that one transaction looks at.
const SLICE: i64 = 500;

/// Removes all that is old enough, site by site and slice by slice, and says how many events and deliveries that was. Others may
/// do the same at the same time.
pub(crate) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let mut removed = 0;
    for site in sites(pool).await? {
        let mut after = Uuid::nil();
        loop {
            let mut tx = pool.begin().await?;
            let slice = forget_slice(&mut tx, &site, after).await?;
            tx.commit().await?;
            removed += slice.removed;
            match slice.last {
                Some(last) => after = last,
                None => break,
            }
        }
    }
    Ok(removed)
}

/// A site with old events.
struct Site {
    id: Uuid,
    /// What is older than this was made before the time from which on its events are kept.
    before: Uuid,
    days: i32,
}

/// What became of a slice.
struct Slice {
    removed: u64,
    /// Where the next one begins: after this event; none: there is none.
    last: Option<Uuid>,
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
        )
        select k.id, k.before as "before!", k.days
        from kept k
        where exists (select from events e where e.site_id = k.id and e.id < k.before)
        "#,
    )
    .fetch_all(pool)
    .await
}

async fn forget_slice(
    conn: &mut PgConnection,
    site: &Site,
    after: Uuid,
) -> Result<Slice, sqlx::Error> {
    // Whoever adds a delivery of an old event has it locked, too.
    let events = sqlx::query_scalar!(
        "
        select id
        from events
        where site_id = $1 and id > $2 and id < $3
        order by id
        limit $4
        for update skip locked
        ",
        site.id,
        after,
        site.before,
        SLICE,
    )
    .fetch_all(&mut *conn)
    .await?;
    let (Some(first), Some(last)) = (events.first(), events.last()) else {
        return Ok(Slice {
            removed: 0,
            last: None,
        });
    };
    let deliveries = deliveries(conn, site, &events, (*first, *last)).await?;
    let (old, kept): (Vec<_>, Vec<_>) = deliveries.iter().partition(|d| d.is_old);
    let old: Vec<Uuid> = old.iter().map(|delivery| delivery.id).collect();
    let needed: HashSet<Uuid> = kept.iter().map(|delivery| delivery.event_id).collect();
    forget_deliveries(conn, &old).await?;
    let done: Vec<Uuid> = events
        .iter()
        .copied()
        .filter(|event| !needed.contains(event))
        .collect();
    sqlx::query!("delete from events where id = any($1)", &done)
        .execute(conn)
        .await?;
    Ok(Slice {
        removed: (old.len() + done.len()) as u64,
        last: Some(*last),
    })
}

struct Delivery {
    id: Uuid,
    event_id: Uuid,
    is_old: bool,
}

/// The deliveries of events between the first and the last one. A delivery's id is of the same millisecond as its event's, so
/// they lie together in the index by endpoints.
async fn deliveries(
    conn: &mut PgConnection,
    site: &Site,
    events: &[Uuid],
    (first, last): (Uuid, Uuid),
) -> Result<Vec<Delivery>, sqlx::Error> {
    sqlx::query_as!(
        Delivery,
        r#"
        select
            d.id,
            d.event_id,
            coalesce(
                d.state <> 'pending' and d.ended_at <= now() - make_interval(days => $5), false
            ) as "is_old!"
        from webhook_endpoints p
        join deliveries d on d.endpoint_id = p.id and d.id between $2 and $3
        where p.site_id = $1 and d.event_id = any($4)
        order by d.id
        for update of d
        "#,
        site.id,
        of_same_time(first, Uuid::nil()),
        of_same_time(last, Uuid::max()),
        events,
        site.days,
    )
    .fetch_all(conn)
    .await
}

/// An id of the same millisecond as one, with the rest of another one.
fn of_same_time(id: Uuid, rest: Uuid) -> Uuid {
    const TIME: u128 = u128::MAX << 80;
    Uuid::from_u128((id.as_u128() & TIME) | (rest.as_u128() & !TIME))
}

async fn forget_deliveries(
    conn: &mut PgConnection,
    deliveries: &[Uuid],
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from delivery_attempts where delivery_id = any($1)",
        deliveries
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!("delete from deliveries where id = any($1)", deliveries)
        .execute(conn)
        .await?;
    Ok(())
}
