//! The deliveries about one item.

use domain::{
    event::EventKind,
    id::{MediaId, SiteId},
    webhook::DeliveryStatus,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::paging::Walk;
use crate::page::Step;

/// The most events of an item that are looked at.
const EVENTS: i64 = 1_000;

/// Looks at what there is about one item: a few events. `is true` keeps Postgres from also reading
/// the indexes of the sites' events and of the endpoints' deliveries, which have all of them.
pub(super) async fn about(
    conn: &mut PgConnection,
    sites: &[SiteId],
    walk: &Walk<'_>,
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
        walk.filter.kind.map(EventKind::as_str),
        walk.filter.since,
        walk.filter.until,
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
        &walk.endpoints,
        walk.before,
        walk.filter.status.map(DeliveryStatus::as_str),
        walk.fetched,
    )
    .fetch_all(conn)
    .await
}
