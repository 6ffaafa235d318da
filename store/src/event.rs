//! Lists of a site's events, newest first, with what became of each: deliveries, or none where no endpoint was to be told.
//!
//! As with media, a page that asks for more than an index knows looks at a bounded number of rows ([`WALKED`]): it may hold
//! fewer events than it could, even none, and yet have a successor.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, SiteId},
    webhook::DeliveryStatus,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Error,
    delivery::{WALKED, endpoints},
    id_time::ids_within,
    page::{self, Step},
};

/// The most deliveries of an event that are shown.
pub const SHOWN: usize = 100;

/// Which events. What is none is not asked for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Of this kind.
    pub kind: Option<EventKind>,
    /// About this item.
    pub media: Option<MediaId>,
    /// That happened at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// That happened before this time.
    pub until: Option<DateTime<Utc>>,
}

impl Filter {
    fn wants_all(&self) -> bool {
        self.kind.is_none() && self.since.is_none() && self.until.is_none()
    }
}

/// A part of the list.
#[derive(Clone, Debug)]
pub struct Page {
    /// At most as many as were asked for.
    pub events: Vec<Listed>,
    /// After which event the next page begins; none on the last one.
    pub next: Option<EventId>,
}

/// An event in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The event.
    pub id: EventId,
    /// Its kind.
    pub kind: EventKind,
    /// The item that it is about.
    pub media: MediaId,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// Its way to each endpoint, the newest endpoints first; of more than [`SHOWN`] those.
    pub deliveries: Vec<Told>,
}

/// An event's way to an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Where the delivery stands.
    pub status: DeliveryStatus,
    /// Attempts made so far.
    pub attempts: i16,
}

/// Which rows are looked at.
struct Walk<'a> {
    site: SiteId,
    /// From this id on,
    from: Uuid,
    /// up to this one, which is not walked itself.
    before: Uuid,
    /// So many, from the newest on.
    rows: i64,
    /// How many steps are fetched: one more than the page holds tells whether there is another page.
    fetched: i64,
    filter: &'a Filter,
}

/// At most `limit` events of a site that are older than `after`. Run it in a transaction that sees one moment.
pub async fn list(
    conn: &mut PgConnection,
    site: SiteId,
    filter: &Filter,
    after: Option<EventId>,
    limit: usize,
) -> Result<Page, Error> {
    let (from, until) = ids_within(filter.since, filter.until);
    let fetched = limit.saturating_add(1);
    // Where every row is wanted, there is no need to see more than the page can hold.
    let rows = if filter.wants_all() {
        fetched.min(WALKED)
    } else {
        WALKED
    };
    let walk = Walk {
        site,
        from,
        before: after.map_or(until, |after| after.as_uuid().min(until)),
        rows: i64::try_from(rows).unwrap_or(i64::MAX),
        fetched: i64::try_from(fetched).unwrap_or(i64::MAX),
        filter,
    };
    let steps = match filter.media {
        Some(media) => about(conn, &walk, media).await?,
        None => newest(conn, &walk).await?,
    };
    let (found, next) = page::found(&steps, limit);
    let events = if found.is_empty() {
        Vec::new()
    } else {
        describe(conn, site, &found).await?
    };
    Ok(Page {
        events,
        next: next.map(EventId::from),
    })
}

/// Walks all events of the site. They are compared as rows, as recoveries do, so that the site's index is walked.
async fn newest(conn: &mut PgConnection, walk: &Walk<'_>) -> Result<Vec<Step>, sqlx::Error> {
    sqlx::query_as!(
        Step,
        r#"
        select w.id as "id!", w.hit as "hit!", w.last as "last!"
        from (
            select
                e.id,
                ($5::text is null or e.kind = $5)
                and ($6::timestamptz is null or e.occurred_at >= $6)
                and ($7::timestamptz is null or e.occurred_at < $7) as hit,
                row_number() over (order by e.id desc) = $4 as last
            from (
                select id, kind, occurred_at
                from events
                where (site_id, id) >= ($1, $2) and (site_id, id) < ($1, $3)
                order by site_id desc, id desc
                limit $4
            ) e
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $8
        "#,
        walk.site.as_uuid(),
        walk.from,
        walk.before,
        walk.rows,
        walk.filter.kind.map(EventKind::as_str),
        walk.filter.since,
        walk.filter.until,
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}

/// Looks at what there is about one item: a few events.
async fn about(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
    media: MediaId,
) -> Result<Vec<Step>, sqlx::Error> {
    sqlx::query_as!(
        Step,
        r#"
        select id, true as "hit!", false as "last!"
        from events
        where
            media_id = $1 and site_id = $2 and id < $3
            and ($4::text is null or kind = $4)
            and ($5::timestamptz is null or occurred_at >= $5)
            and ($6::timestamptz is null or occurred_at < $6)
        order by id desc
        limit $7
        "#,
        media.as_uuid(),
        walk.site.as_uuid(),
        walk.before,
        walk.filter.kind.map(EventKind::as_str),
        walk.filter.since,
        walk.filter.until,
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}

/// The events of these ids, newest first, with their deliveries.
async fn describe(
    conn: &mut PgConnection,
    site: SiteId,
    found: &[Uuid],
) -> Result<Vec<Listed>, Error> {
    let mut told = told(conn, site, found).await?;
    let rows = sqlx::query!(
        "select id, kind, media_id, occurred_at from events where id = any($1) order by id desc",
        found,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Listed {
                id: row.id.into(),
                kind: row.kind.parse()?,
                media: row.media_id.into(),
                occurred_at: row.occurred_at,
                deliveries: told.remove(&row.id).unwrap_or_default(),
            })
        })
        .collect()
}

/// The deliveries of each of these events. Their ids follow from those of the events and the endpoints.
async fn told(
    conn: &mut PgConnection,
    site: SiteId,
    events: &[Uuid],
) -> Result<HashMap<Uuid, Vec<Told>>, Error> {
    let endpoints = endpoints(conn, site, None).await?;
    let ids = events.iter().flat_map(|event| {
        let endpoints = endpoints.iter();
        endpoints.map(|endpoint| DeliveryId::of((*event).into(), (*endpoint).into()).as_uuid())
    });
    let ids: Vec<Uuid> = ids.collect();
    let rows = sqlx::query!(
        "
        select id, event_id, endpoint_id, state, attempts
        from deliveries
        where id = any($1)
        order by endpoint_id desc
        ",
        &ids,
    )
    .fetch_all(conn)
    .await?;
    let mut told: HashMap<Uuid, Vec<Told>> = HashMap::new();
    for row in rows {
        let of_event = told.entry(row.event_id).or_default();
        if of_event.len() < SHOWN {
            of_event.push(Told {
                delivery: row.id.into(),
                endpoint: row.endpoint_id.into(),
                status: row.state.parse()?,
                attempts: row.attempts,
            });
        }
    }
    Ok(told)
}
