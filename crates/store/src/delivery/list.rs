//! Lists of the deliveries of sites, newest first.
//!
//! As with media, a page with a filter that no index serves looks at a bounded number of rows
//! ([`WALKED`]). Such a page may hold fewer deliveries than its limit, even none, although there is
//! a next page.

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, SiteId},
    webhook::DeliveryStatus,
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use crate::page::WALKED;
use crate::{
    Error,
    endpoint::ENDPOINTS,
    page::{Step, Walk},
};

/// Which deliveries. Fields that are `None` filter nothing.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
    /// In this state.
    pub status: Option<DeliveryStatus>,
    /// Of events of this kind.
    pub kind: Option<EventKind>,
    /// Of events about this item.
    pub media: Option<MediaId>,
    /// Of events that happened at this time or later.
    pub since: Option<DateTime<Utc>>,
    /// Of events that happened before this time.
    pub until: Option<DateTime<Utc>>,
}

impl Filter {
    fn wants_all(&self) -> bool {
        self.status.is_none() && self.kind.is_none() && self.since.is_none() && self.until.is_none()
    }
}

/// A part of the list.
#[derive(Clone, Debug)]
pub struct Page {
    /// At most as many as were asked for.
    pub deliveries: Vec<Listed>,
    /// After which delivery the next page begins; none on the last one.
    pub next: Option<DeliveryId>,
}

/// At most `limit` deliveries of these sites that are older than `after`. Run it in a transaction that
/// sees one moment.
pub async fn list(
    conn: &mut PgConnection,
    sites: &[SiteId],
    filter: &Filter,
    after: Option<DeliveryId>,
    limit: usize,
) -> Result<Page, Error> {
    let endpoints = endpoints(conn, sites, filter.endpoint).await?;
    let endpoints: Vec<Uuid> = endpoints.into_iter().map(|endpoint| endpoint.id).collect();
    let walk = Walk::new(
        endpoints,
        (filter.since, filter.until),
        after.map(DeliveryId::as_uuid),
        limit,
        filter.wants_all(),
    );
    let steps = match (filter.media, filter.status) {
        (Some(media), _) => about(conn, sites, &walk, filter, media).await?,
        (None, Some(DeliveryStatus::Exhausted | DeliveryStatus::Discarded)) => {
            failed(conn, &walk, filter).await?
        }
        (None, Some(DeliveryStatus::Pending | DeliveryStatus::Delivered) | None) => {
            newest(conn, &walk, filter).await?
        }
    };
    let (found, next) = walk.found(&steps);
    let deliveries = if found.is_empty() {
        Vec::new()
    } else {
        describe(conn, &found).await?
    };
    Ok(Page {
        deliveries,
        next: next.map(DeliveryId::from),
    })
}

/// An endpoint whose deliveries are listed.
pub(crate) struct Owned {
    pub(crate) id: Uuid,
    pub(crate) site_id: Uuid,
}

/// The endpoints of these sites whose deliveries are listed, the newest first.
pub(crate) async fn endpoints(
    conn: &mut PgConnection,
    sites: &[SiteId],
    only: Option<EndpointId>,
) -> Result<Vec<Owned>, sqlx::Error> {
    let sites: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    sqlx::query_as!(
        Owned,
        "
        select id, site_id
        from webhook_endpoints
        where site_id = any($1) and ($2::uuid is null or id = $2)
        order by id desc
        limit $3
        ",
        &sites,
        only.map(EndpointId::as_uuid),
        ENDPOINTS,
    )
    .fetch_all(conn)
    .await
}

/// A delivery in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The delivery.
    pub id: DeliveryId,
    /// The event.
    pub event: EventId,
    /// Its kind.
    pub kind: EventKind,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// The item that it is about.
    pub media: MediaId,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// The delivery's state.
    pub status: DeliveryStatus,
    /// Attempts made so far.
    pub attempts: i16,
    /// When the next one is due; none when it ended.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// When it ended; none when it has not.
    pub ended_at: Option<DateTime<Utc>>,
}

/// The deliveries of these ids, newest first.
async fn describe(conn: &mut PgConnection, found: &[Uuid]) -> Result<Vec<Listed>, Error> {
    let rows = sqlx::query!(
        "
        select
            d.id, d.event_id, e.kind, e.occurred_at, e.media_id, d.endpoint_id, d.state, d.attempts, d.next_attempt_at,
            d.ended_at
        from deliveries d
        join events e on e.id = d.event_id
        where d.id = any($1)
        order by d.id desc
        ",
        found,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Listed {
                id: row.id.into(),
                event: row.event_id.into(),
                kind: row.kind.parse()?,
                occurred_at: row.occurred_at,
                media: row.media_id.into(),
                endpoint: row.endpoint_id.into(),
                status: row.state.parse()?,
                attempts: row.attempts,
                next_attempt_at: row.next_attempt_at,
                ended_at: row.ended_at,
            })
        })
        .collect()
}

/// The most events of an item that are looked at.
const EVENTS: i64 = 1_000;

/// Looks at what there is about one item: a few events. `is true` keeps Postgres from also reading
/// the indexes of the sites' events and of the endpoints' deliveries, which have all of them.
async fn about(
    conn: &mut PgConnection,
    sites: &[SiteId],
    walk: &Walk,
    filter: &Filter,
    media: MediaId,
) -> Result<Vec<Step>, sqlx::Error> {
    let sites: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    let events = sqlx::query_scalar!(
        "
        select id
        from events
        where
            media_id = $1 and (site_id = any($2)) is true
            and ($3::text is null or kind = $3)
            and ($4::timestamptz is null or occurred_at >= $4)
            and ($5::timestamptz is null or occurred_at < $5)
        order by id desc
        limit $6
        ",
        media.as_uuid(),
        &sites,
        filter.kind.map(EventKind::as_str),
        filter.since,
        filter.until,
        EVENTS,
    )
    .fetch_all(&mut *conn)
    .await?;
    if events.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_as!(
        Step,
        r#"
        select id, true as "hit!", false as "last!"
        from deliveries
        where
            event_id = any($1) and (endpoint_id = any($2)) is true and id < $3
            and ($4::text is null or state = $4)
        order by id desc
        limit $5
        "#,
        &events,
        &walk.over,
        walk.before,
        filter.status.map(DeliveryStatus::as_str),
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}

/// The statement of a walk. `$rows` are the rows of the endpoint `s`.
///
/// The event is looked up by its id, and only if the answer depends on it.
macro_rules! walk {
    ($conn:expr, $walk:expr, $filter:expr, $rows:literal) => {
        sqlx::query_as!(
            Step,
            r#"
        select w.id as "id!", w.hit as "hit!", w.last as "last!"
        from unnest($1::uuid []) as s (id)
        cross join lateral (
            select
                d.id,
                ($5::text is null or d.state = $5)
                and (
                    ($6::text is null and $7::timestamptz is null and $8::timestamptz is null)
                    or coalesce(
                        (
                            select
                                ($6::text is null or e.kind = $6)
                                and ($7::timestamptz is null or e.occurred_at >= $7)
                                and ($8::timestamptz is null or e.occurred_at < $8)
                            from events e
                            where e.id = d.event_id
                        ),
                        false
                    )
                ) as hit,
                row_number() over (order by d.id desc) = $4 as last
            from (
                select id, event_id, state
                from deliveries
                "#
                + $rows
                + "
            ) d
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $9
        ",
            &$walk.over,
            $walk.from,
            $walk.before,
            $walk.share,
            $filter.status.map(DeliveryStatus::as_str),
            $filter.kind.map(EventKind::as_str),
            $filter.since,
            $filter.until,
            $walk.fetched,
        )
        .fetch_all($conn)
        .await
    };
}

/// Walks all deliveries of each endpoint. The ids are compared as rows, so that Postgres walks the
/// index of the endpoint's deliveries, and never those of others. It must not know the limit, or it
/// sorts all deliveries of the endpoint when it expects few.
async fn newest(
    conn: &mut PgConnection,
    walk: &Walk,
    filter: &Filter,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
        filter,
        "where (endpoint_id, id) >= (s.id, $2) and (endpoint_id, id) < (s.id, $3)
                order by endpoint_id desc, id desc
                limit (select $4::bigint)"
    )
}

/// Walks the deliveries that ended without success. An index serves them.
async fn failed(
    conn: &mut PgConnection,
    walk: &Walk,
    filter: &Filter,
) -> Result<Vec<Step>, sqlx::Error> {
    walk!(
        conn,
        walk,
        filter,
        "where
                    endpoint_id = s.id and id >= $2 and id < $3
                    and state in ('exhausted', 'discarded')
                order by id desc
                limit $4"
    )
}
