//! Walking the deliveries of each endpoint from the newest on, as far as the endpoint's share goes.

use domain::{event::EventKind, webhook::DeliveryStatus};
use sqlx::PgConnection;
use uuid::Uuid;

use super::Filter;
use crate::page::Step;

/// Which rows are looked at: those of each endpoint from the newest on, as far as its share goes.
/// Below the end of a share, the endpoint's older rows are unknown, so the page ends there.
pub(super) struct Walk<'a> {
    pub(super) endpoints: Vec<Uuid>,
    /// From this id on,
    pub(super) from: Uuid,
    /// up to this one, which is not walked itself.
    pub(super) before: Uuid,
    /// Rows of each endpoint.
    pub(super) share: i64,
    /// How many steps are fetched: one more than the page holds tells whether there is another
    /// page.
    pub(super) fetched: i64,
    pub(super) filter: &'a Filter,
}

/// Walks all deliveries of each endpoint. The ids are compared as rows, so that Postgres walks the
/// index of the endpoint's deliveries, and never those of others. It must not know the limit, or it
/// sorts all deliveries of the endpoint when it expects few.
pub(super) async fn newest(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
) -> Result<Vec<Step>, sqlx::Error> {
    // The event is looked up by its id, and only if the answer depends on it.
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
                where (endpoint_id, id) >= (s.id, $2) and (endpoint_id, id) < (s.id, $3)
                order by endpoint_id desc, id desc
                limit (select $4::bigint)
            ) d
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

/// Walks the deliveries that ended without success. An index serves them.
pub(super) async fn failed(
    conn: &mut PgConnection,
    walk: &Walk<'_>,
) -> Result<Vec<Step>, sqlx::Error> {
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
                where
                    endpoint_id = s.id and id >= $2 and id < $3
                    and state in ('exhausted', 'discarded')
                order by id desc
                limit $4
            ) d
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
