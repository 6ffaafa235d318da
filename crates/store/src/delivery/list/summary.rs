//! What a list shows of each delivery.

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId},
    webhook::DeliveryStatus,
};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::Error;

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
pub(super) async fn describe(
    conn: &mut PgConnection,
    found: &[Uuid],
) -> Result<Vec<Listed>, Error> {
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
