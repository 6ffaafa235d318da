//! What a recovery looks at next: deliveries that ended, or events whose deliveries may be missing.

use domain::{
    id::{DeliveryId, EventId},
    recovery::RecoveryKind,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{SLICE, Wanted, status::Standing};

// An endpoint's deliveries and a site's events are compared as rows and looked up one by one. So
// Postgres walks the index that has them together, whatever it estimates.

/// Something that was looked at.
pub(super) struct Walked {
    /// The delivery, or the event where deliveries are missing.
    pub(super) id: Uuid,
    pub(super) event: Uuid,
    pub(super) is_wanted: bool,
}

impl Walked {
    pub(super) fn wanted(&self, standing: &Standing) -> Wanted {
        let event = EventId::from(self.event);
        let delivery = match standing.kind {
            RecoveryKind::Failed | RecoveryKind::Delivered => self.id.into(),
            RecoveryKind::Missing => DeliveryId::of(event, standing.endpoint),
        };
        Wanted { delivery, event }
    }
}

pub(super) async fn walk_failed(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Vec<Walked>, sqlx::Error> {
    let (after, before) = standing.bounds();
    sqlx::query_as!(
        Walked,
        r#"
        select
            w.id as "id!",
            w.event_id as "event!",
            coalesce(e.occurred_at >= $4 and e.occurred_at < $5 and e.kind = any($6), false) as "is_wanted!"
        from (
            select id, event_id
            from deliveries
            where
                (endpoint_id, id) > ($1, $2) and (endpoint_id, id) < ($1, $3)
                and state in ('exhausted', 'discarded')
            order by endpoint_id, id
            limit $7
        ) w
        left join lateral (select kind, occurred_at from events where id = w.event_id limit 1) e on true
        order by w.id
        "#,
        standing.endpoint.as_uuid(),
        after,
        before,
        standing.since,
        standing.until,
        &standing.events,
        SLICE,
    )
    .fetch_all(conn)
    .await
}

pub(super) async fn walk_delivered(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Vec<Walked>, sqlx::Error> {
    let (after, before) = standing.bounds();
    sqlx::query_as!(
        Walked,
        r#"
        select
            w.id as "id!",
            w.event_id as "event!",
            coalesce(
                w.state = 'delivered' and e.occurred_at >= $4 and e.occurred_at < $5 and e.kind = any($6), false
            ) as "is_wanted!"
        from (
            select id, event_id, state
            from deliveries
            where (endpoint_id, id) > ($1, $2) and (endpoint_id, id) < ($1, $3)
            order by endpoint_id, id
            limit $7
        ) w
        left join lateral (select kind, occurred_at from events where id = w.event_id limit 1) e on true
        order by w.id
        "#,
        standing.endpoint.as_uuid(),
        after,
        before,
        standing.since,
        standing.until,
        &standing.events,
        SLICE,
    )
    .fetch_all(conn)
    .await
}

/// The site's events, with or without a delivery to the endpoint. The effect tells them apart.
pub(super) async fn walk_events(
    conn: &mut PgConnection,
    standing: &Standing,
) -> Result<Vec<Walked>, sqlx::Error> {
    let (after, before) = standing.bounds();
    sqlx::query_as!(
        Walked,
        r#"
        select
            id,
            id as "event!",
            occurred_at >= $4 and occurred_at < $5 and kind = any($6) as "is_wanted!"
        from events
        where (site_id, id) > ($1, $2) and site_id = $1 and id < $3
        order by site_id, id
        limit $7
        "#,
        standing.site.as_uuid(),
        after,
        before,
        standing.since,
        standing.until,
        &standing.events,
        SLICE,
    )
    .fetch_all(conn)
    .await
}
