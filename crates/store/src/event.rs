//! Lists of the events of sites, newest first, with the deliveries of each, or none if no endpoint
//! wanted the event.
//!
//! As with media, a page with a filter that no index serves looks at a bounded number of rows
//! ([`WALKED`]). Such a page may hold fewer events than its limit, even none, although there is a
//! next page.

use std::collections::{BTreeSet, HashMap};

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
    delivery::endpoints,
    page::{Step, WALKED, Walk},
};

/// Which events. Fields that are `None` filter nothing.
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

/// At most `limit` events of these sites that are older than `after`. Run it in a transaction that sees
/// one moment.
pub async fn list(
    conn: &mut PgConnection,
    sites: &[SiteId],
    filter: &Filter,
    after: Option<EventId>,
    limit: usize,
) -> Result<Page, Error> {
    let walk = Walk::new(
        sites.iter().map(|site| site.as_uuid()).collect(),
        (filter.since, filter.until),
        after.map(EventId::as_uuid),
        limit,
        filter.wants_all(),
    );
    let steps = match filter.media {
        Some(media) => about(conn, &walk, filter, media).await?,
        None => newest(conn, &walk, filter).await?,
    };
    let (found, next) = walk.found(&steps);
    let events = if found.is_empty() {
        Vec::new()
    } else {
        describe(conn, &found).await?
    };
    Ok(Page {
        events,
        next: next.map(EventId::from),
    })
}

/// The most deliveries of an event that are shown.
pub const SHOWN: usize = 100;

/// An event in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The event.
    pub id: EventId,
    /// Its site.
    pub site: SiteId,
    /// Its kind.
    pub kind: EventKind,
    /// The item that it is about.
    pub media: MediaId,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// Its deliveries, those to the newest endpoints first, at most [`SHOWN`].
    pub deliveries: Vec<Told>,
}

/// The delivery of an event to an endpoint.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The delivery's state.
    pub status: DeliveryStatus,
    /// Attempts made so far.
    pub attempts: i16,
}

/// The events of these ids, newest first, with their deliveries.
async fn describe(conn: &mut PgConnection, found: &[Uuid]) -> Result<Vec<Listed>, Error> {
    let rows = sqlx::query!(
        "select id, site_id, kind, media_id, occurred_at from events where id = any($1) order by id desc",
        found,
    )
    .fetch_all(&mut *conn)
    .await?;
    let places: Vec<(Uuid, Uuid)> = rows.iter().map(|row| (row.site_id, row.id)).collect();
    let mut told = told(conn, &places).await?;
    rows.into_iter()
        .map(|row| {
            Ok(Listed {
                id: row.id.into(),
                site: row.site_id.into(),
                kind: row.kind.parse()?,
                media: row.media_id.into(),
                occurred_at: row.occurred_at,
                deliveries: told.remove(&row.id).unwrap_or_default(),
            })
        })
        .collect()
}

/// The deliveries of each of these events, which are named with their sites. Their ids follow from
/// those of the events and the endpoints.
async fn told(
    conn: &mut PgConnection,
    events: &[(Uuid, Uuid)],
) -> Result<HashMap<Uuid, Vec<Told>>, Error> {
    let sites: BTreeSet<SiteId> = events.iter().map(|(site, _)| (*site).into()).collect();
    let sites: Vec<SiteId> = sites.into_iter().collect();
    let endpoints = endpoints(conn, &sites, None).await?;
    let ids = events.iter().flat_map(|(site, event)| {
        let of_site = endpoints
            .iter()
            .filter(move |endpoint| endpoint.site_id == *site);
        of_site.map(|endpoint| DeliveryId::of((*event).into(), endpoint.id.into()).as_uuid())
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

/// Walks the events of each site, in one statement. Sites without an event in the range take no
/// part in the share of the others.
///
/// The ids are compared as rows, as recoveries do, so that Postgres walks the index of each site's
/// events, whatever it estimates.
async fn newest(
    conn: &mut PgConnection,
    walk: &Walk,
    filter: &Filter,
) -> Result<Vec<Step>, sqlx::Error> {
    // How many sites are walked, those with the newest events, and how many rows of each at most.
    // Without a filter, the page is full with the newest events of as many sites as it has rows:
    // every event of another site is older than all of those.
    let most = if filter.wants_all() {
        walk.fetched
    } else {
        i64::MAX
    };
    sqlx::query_as!(
        Step,
        r#"
        with newest as materialized (
            select s.id
            from unnest($1::uuid []) as s (id)
            cross join lateral (
                select e.id
                from events e
                where (e.site_id, e.id) >= (s.id, $2) and e.site_id = s.id and e.id < $3
                order by e.site_id desc, e.id desc
                limit 1
            ) e
            order by e.id desc
            limit $4
        ),
        share as materialized (
            select least(greatest($5 / greatest(count(*), 1), 1), $6::bigint) as rows
            from newest
        )
        select w.id as "id!", w.hit as "hit!", w.last as "last!"
        from share
        cross join newest s
        cross join lateral (
            select
                e.id,
                ($7::text is null or e.kind = $7)
                and ($8::timestamptz is null or e.occurred_at >= $8)
                and ($9::timestamptz is null or e.occurred_at < $9) as hit,
                row_number() over (order by e.id desc) = share.rows as last
            from (
                select id, kind, occurred_at
                from events
                where (site_id, id) >= (s.id, $2) and site_id = s.id and id < $3
                order by site_id desc, id desc
                limit share.rows
            ) e
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $10
        "#,
        &walk.over,
        walk.from,
        walk.before,
        most,
        i64::try_from(WALKED).unwrap_or(i64::MAX),
        most,
        filter.kind.map(EventKind::as_str),
        filter.since,
        filter.until,
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}

/// Looks at what there is about one item: a few events. `is true` keeps Postgres from also reading
/// the index of the sites' events, which has all of them.
async fn about(
    conn: &mut PgConnection,
    walk: &Walk,
    filter: &Filter,
    media: MediaId,
) -> Result<Vec<Step>, sqlx::Error> {
    sqlx::query_as!(
        Step,
        r#"
        select id, true as "hit!", false as "last!"
        from events
        where
            media_id = $1 and (site_id = any($2)) is true and id < $3
            and ($4::text is null or kind = $4)
            and ($5::timestamptz is null or occurred_at >= $5)
            and ($6::timestamptz is null or occurred_at < $6)
        order by id desc
        limit $7
        "#,
        media.as_uuid(),
        &walk.over,
        walk.before,
        filter.kind.map(EventKind::as_str),
        filter.since,
        filter.until,
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}
