//! The second phase begins with the events of the items, with their deliveries and the attempts of these. No index finds the events
//! of an item, so those of each site are walked in the order of their ids, once, and only where events of the items can be. Events are
//! told when an item is accepted and when it gets a verdict, and their ids begin with the time.

mod time_windows;

use domain::id::ErasureId;
use sqlx::PgConnection;
use uuid::Uuid;

use self::time_windows::{Window, windows};
use super::{Standing, Tally};
use crate::Error;

/// How much one slice does, at most.
#[derive(Clone, Copy)]
struct Bounds {
    /// Events that it looks at.
    looked_at: usize,
    /// Events that it removes. Each has a delivery to look for at each endpoint of its site.
    removed: usize,
}

const BOUNDS: Bounds = Bounds {
    looked_at: 10_000,
    removed: 2_000,
};

/// Where the walk is: all events of sites with smaller ids were looked at, and those of this site with smaller ids.
type Place = (Uuid, Uuid);

/// What was found in a part of the walk.
#[derive(Debug)]
pub(super) struct Walked {
    /// Events of the items.
    events: Vec<Uuid>,
    /// The walk goes on after this place.
    to: Place,
}

/// The next part of the walk; none if it has ended.
pub(super) async fn next(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Option<Walked>, Error> {
    let windows = windows(conn, standing).await?;
    walk(conn, standing, &windows, BOUNDS).await
}

async fn walk(
    conn: &mut PgConnection,
    standing: &Standing,
    windows: &[Window],
    bounds: Bounds,
) -> Result<Option<Walked>, Error> {
    let begin = standing.events_site.zip(standing.events_to);
    let begin = begin.unwrap_or_default();
    let mut walked = Walked {
        events: Vec::new(),
        to: begin,
    };
    let mut left = bounds.looked_at;
    for window in windows {
        if (window.site, window.until) <= walked.to {
            continue;
        }
        if left == 0 {
            return Ok(Some(walked));
        }
        let from = match walked.to {
            (site, to) if site == window.site => window.from.max(to),
            _ => window.from,
        };
        let looked = look(conn, standing.erasure, window, from, left).await?;
        for event in &looked {
            walked.to = (window.site, event.id);
            if event.is_meant {
                walked.events.push(event.id);
                if walked.events.len() >= bounds.removed {
                    return Ok(Some(walked));
                }
            }
        }
        left = left.saturating_sub(looked.len());
        if left > 0 {
            walked.to = (window.site, window.until);
        }
    }
    Ok((walked.to > begin).then_some(walked))
}

struct LookedAt {
    id: Uuid,
    is_meant: bool,
}

/// The next events of a site after this id, and before the end of the window. The columns are compared one by one: the walk of an index
/// does not end where a row is greater than a pair, but at the end of the site.
async fn look(
    conn: &mut PgConnection,
    erasure: ErasureId,
    window: &Window,
    from: Uuid,
    most: usize,
) -> Result<Vec<LookedAt>, sqlx::Error> {
    sqlx::query_as!(
        LookedAt,
        r#"
        select e.id as "id!", coalesce(i.is_meant, false) as "is_meant!"
        from (
            select id, media_id
            from events
            where site_id = $1 and id > $2 and id < $3
            order by site_id, id
            limit $4
        ) e
        left join lateral (
            select true as is_meant from erased_items i where i.erasure_id = $5 and i.media_id = e.media_id limit 1
        ) i on true
        order by e.id
        "#,
        window.site,
        from,
        window.until,
        i64::try_from(most).unwrap_or(i64::MAX),
        erasure.as_uuid(),
    )
    .fetch_all(conn)
    .await
}

impl Walked {
    /// Removes the events. The row of the erasure is locked.
    pub(super) async fn apply(
        &self,
        conn: &mut PgConnection,
        erasure: ErasureId,
    ) -> Result<(), sqlx::Error> {
        if !self.events.is_empty() {
            let mut tally = Tally::load(conn, erasure).await?;
            let (events, deliveries) = forget(conn, &self.events).await?;
            tally.counts.events += events;
            tally.counts.deliveries += deliveries;
            tally.store(conn, erasure).await?;
        }
        let (site, event) = self.to;
        sqlx::query!(
            "update erasures set events_site = $2, events_to = $3 where id = $1",
            erasure.as_uuid(),
            site,
            event,
        )
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// Returns how many events and deliveries that were.
async fn forget(conn: &mut PgConnection, events: &[Uuid]) -> Result<(i64, i64), sqlx::Error> {
    let counted = sqlx::query!(
        r#"
        with told as (
            delete from events e where e.id = any($1) returning e.id, e.site_id
        ),
        ways as materialized (
            select delivery_id_of(t.id, p.id) as id
            from told t
            join webhook_endpoints p on p.site_id = t.site_id
        ),
        gone as (
            delete from deliveries d where d.id in (select w.id from ways w) returning d.id
        ),
        attempts as (
            delete from delivery_attempts a where a.delivery_id in (select w.id from ways w)
        )
        select (select count(*) from told) as "events!", (select count(*) from gone) as "deliveries!"
        "#,
        events,
    )
    .fetch_one(conn)
    .await?;
    Ok((counted.events, counted.deliveries))
}

#[cfg(test)]
mod tests;
