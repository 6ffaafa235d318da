//! Lists of a site's deliveries, newest first.
//!
//! As with media, a page that asks for more than an index knows looks at a bounded number of rows ([`WALKED`]): it may hold
//! fewer deliveries than it could, even none, and yet have a successor.

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
    id_time::ids_within,
    page::{self, Step},
};

/// How many rows a page with a filter looks at, over all endpoints together; at least one of each.
pub const WALKED: usize = 5_000;

/// The newest endpoints of a site, deleted ones included, whose deliveries are listed when none is named.
const ENDPOINTS: i64 = 1_000;

/// The most events of an item that are looked at.
const EVENTS: i64 = 1_000;

/// Which deliveries. What is none is not asked for.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
    /// That stand so.
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
    /// Where the delivery stands.
    pub status: DeliveryStatus,
    /// Attempts made so far.
    pub attempts: i16,
    /// When the next one is due; none when it ended.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// When it ended; none when it has not.
    pub ended_at: Option<DateTime<Utc>>,
}

/// Which rows are looked at: those of each endpoint from the newest on, as far as its share goes. Where a share ends, nobody has
/// seen that endpoint's older rows, so the page ends there as well.
struct Walk<'a> {
    endpoints: Vec<Uuid>,
    /// From this id on,
    from: Uuid,
    /// up to this one, which is not walked itself.
    before: Uuid,
    /// Rows of each endpoint.
    share: i64,
    /// How many steps are fetched: one more than the page holds tells whether there is another page.
    fetched: i64,
    filter: &'a Filter,
}

/// At most `limit` deliveries of a site that are older than `after`. Run it in a transaction that sees one moment.
pub async fn list(
    conn: &mut PgConnection,
    site: SiteId,
    filter: &Filter,
    after: Option<DeliveryId>,
    limit: usize,
) -> Result<Page, Error> {
    let endpoints = endpoints(conn, site, filter.endpoint).await?;
    let (from, until) = ids_within(filter.since, filter.until);
    let share = (WALKED / endpoints.len().max(1)).max(1);
    // Where every row is wanted, no endpoint needs to show more than the page can hold.
    let share = if filter.wants_all() {
        share.min(limit.saturating_add(1))
    } else {
        share
    };
    let walk = Walk {
        endpoints,
        from,
        before: after.map_or(until, |after| after.as_uuid().min(until)),
        share: i64::try_from(share).unwrap_or(i64::MAX),
        fetched: i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX),
        filter,
    };
    let steps = match (filter.media, filter.status) {
        (Some(media), _) => about(conn, site, &walk, media).await?,
        (None, Some(DeliveryStatus::Exhausted | DeliveryStatus::Discarded)) => {
            failed(conn, &walk).await?
        }
        (None, Some(DeliveryStatus::Pending | DeliveryStatus::Delivered) | None) => {
            newest(conn, &walk).await?
        }
    };
    let (found, next) = page::found(&steps, limit);
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

/// The endpoints of a site whose deliveries are listed, the newest first.
pub(crate) async fn endpoints(
    conn: &mut PgConnection,
    site: SiteId,
    only: Option<EndpointId>,
) -> Result<Vec<Uuid>, sqlx::Error> {
    sqlx::query_scalar!(
        "
        select id
        from webhook_endpoints
        where site_id = $1 and ($2::uuid is null or id = $2)
        order by id desc
        limit $3
        ",
        site.as_uuid(),
        only.map(EndpointId::as_uuid),
        ENDPOINTS,
    )
    .fetch_all(conn)
    .await
}

/// Walks all deliveries of each endpoint.
async fn newest(conn: &mut PgConnection, walk: &Walk<'_>) -> Result<Vec<Step>, sqlx::Error> {
    // `offset 0` keeps an event's lookup by its id one for each row that is walked, whatever the planner guesses.
    sqlx::query_as!(
        Step,
        r#"
        select w.id as "id!", w.hit as "hit!", w.last as "last!"
        from unnest($1::uuid []) as s (id)
        cross join lateral (
            select
                d.id,
                ($5::text is null or d.state = $5)
                and ($6::text is null or e.kind = $6)
                and ($7::timestamptz is null or e.occurred_at >= $7)
                and ($8::timestamptz is null or e.occurred_at < $8) as hit,
                row_number() over (order by d.id desc) = $4 as last
            from (
                select id, event_id, state
                from deliveries
                where endpoint_id = s.id and id >= $2 and id < $3
                order by id desc
                limit $4
            ) d
            cross join lateral (
                select kind, occurred_at from events where id = d.event_id offset 0
            ) e
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $9
        "#,
        &walk.endpoints,
        walk.from,
        walk.before,
        walk.share,
        walk.filter.status.map(DeliveryStatus::as_str),
        walk.filter.kind.map(EventKind::as_str),
        walk.filter.since,
        walk.filter.until,
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}

/// Walks those that ended without success, which an index knows.
async fn failed(conn: &mut PgConnection, walk: &Walk<'_>) -> Result<Vec<Step>, sqlx::Error> {
    sqlx::query_as!(
        Step,
        r#"
        select w.id as "id!", w.hit as "hit!", w.last as "last!"
        from unnest($1::uuid []) as s (id)
        cross join lateral (
            select
                d.id,
                ($5::text is null or d.state = $5)
                and ($6::text is null or e.kind = $6)
                and ($7::timestamptz is null or e.occurred_at >= $7)
                and ($8::timestamptz is null or e.occurred_at < $8) as hit,
                row_number() over (order by d.id desc) = $4 as last
            from (
                select id, event_id, state
                from deliveries
                where
                    endpoint_id = s.id and id >= $2 and id < $3
                    and state in ('exhausted', 'discarded')
                order by id desc
                limit $4
            ) d
            cross join lateral (
                select kind, occurred_at from events where id = d.event_id offset 0
            ) e
        ) w
        where w.hit or w.last
        order by w.id desc
        limit $9
        "#,
        &walk.endpoints,
        walk.from,
        walk.before,
        walk.share,
        walk.filter.status.map(DeliveryStatus::as_str),
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
    site: SiteId,
    walk: &Walk<'_>,
    media: MediaId,
) -> Result<Vec<Step>, sqlx::Error> {
    let events = sqlx::query_scalar!(
        "
        select id
        from events
        where
            media_id = $1 and site_id = $2
            and ($3::text is null or kind = $3)
            and ($4::timestamptz is null or occurred_at >= $4)
            and ($5::timestamptz is null or occurred_at < $5)
        order by id desc
        limit $6
        ",
        media.as_uuid(),
        site.as_uuid(),
        walk.filter.kind.map(EventKind::as_str),
        walk.filter.since,
        walk.filter.until,
        EVENTS,
    )
    .fetch_all(&mut *conn)
    .await?;
    sqlx::query_as!(
        Step,
        r#"
        select id, true as "hit!", false as "last!"
        from deliveries
        where
            event_id = any($1) and endpoint_id = any($2) and id < $3
            and ($4::text is null or state = $4)
        order by id desc
        limit $5
        "#,
        &events,
        &walk.endpoints,
        walk.before,
        walk.filter.status.map(DeliveryStatus::as_str),
        walk.fetched,
    )
    .fetch_all(conn)
    .await
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
