//! The history of an item: its verdicts, their events, and the deliveries of these.

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId},
    media::{ModerationType, Status},
};
use serde_json::value::RawValue;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::Error;

/// One verdict.
#[derive(Debug)]
pub struct Verdict {
    /// Its number; an item's verdicts count from 1.
    pub number: i16,
    /// The status after it.
    pub status: Status,
    /// The status before it.
    pub previous_status: Status,
    /// Who or what decided.
    pub moderation_type: ModerationType,
    /// `moderation_details`, as its event carried them.
    pub details: Box<RawValue>,
    /// How it came to be.
    pub trace: Box<RawValue>,
    /// When it was decided.
    pub moderated_at: DateTime<Utc>,
}

/// One event.
#[derive(Debug)]
pub struct Event {
    /// The event.
    pub id: EventId,
    /// Its kind.
    pub kind: EventKind,
    /// The number of the verdict that it tells, if it tells one.
    pub verdict: Option<i16>,
    /// When it happened.
    pub occurred_at: DateTime<Utc>,
    /// Its delivery to each endpoint that subscribed to it.
    pub deliveries: Vec<Delivery>,
}

/// The delivery of an event to an endpoint.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The delivery.
    pub id: DeliveryId,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// `pending`, `delivered`, `exhausted` or `discarded`.
    pub state: String,
    /// Attempts made so far.
    pub attempts: i16,
    /// When the next one is due; none when it ended.
    pub next_attempt_at: Option<DateTime<Utc>>,
    /// When it ended; none when it has not.
    pub ended_at: Option<DateTime<Utc>>,
}

/// The most verdicts, and the most events, of an item that are shown.
const SHOWN: i64 = 1_000;

pub(super) async fn verdicts(
    conn: &mut PgConnection,
    media: MediaId,
) -> Result<Vec<Verdict>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            number,
            status,
            previous_status,
            moderation_type,
            details as "details: Json<Box<RawValue>>",
            trace as "trace: Json<Box<RawValue>>",
            moderated_at
        from verdicts
        where media_id = $1
        order by number desc
        limit $2
        "#,
        media.as_uuid(),
        SHOWN,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Verdict {
                number: row.number,
                status: row.status.parse()?,
                previous_status: row.previous_status.parse()?,
                moderation_type: row.moderation_type.parse()?,
                details: row.details.0,
                trace: row.trace.0,
                moderated_at: row.moderated_at,
            })
        })
        .collect()
}

pub(super) async fn events_with_deliveries(
    conn: &mut PgConnection,
    media: MediaId,
) -> Result<Vec<Event>, Error> {
    let mut events = events(conn, media).await?;
    let ids: Vec<Uuid> = events.iter().map(|event| event.id.as_uuid()).collect();
    for (event, delivery) in deliveries(conn, &ids).await? {
        if let Some(event) = events.iter_mut().find(|known| known.id == event) {
            event.deliveries.push(delivery);
        }
    }
    Ok(events)
}

async fn events(conn: &mut PgConnection, media: MediaId) -> Result<Vec<Event>, Error> {
    let rows = sqlx::query!(
        "
        select id, kind, verdict, occurred_at
        from events
        where media_id = $1
        order by occurred_at desc, id desc
        limit $2
        ",
        media.as_uuid(),
        SHOWN,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Event {
                id: row.id.into(),
                kind: row.kind.parse()?,
                verdict: row.verdict,
                occurred_at: row.occurred_at,
                deliveries: Vec::new(),
            })
        })
        .collect()
}

async fn deliveries(
    conn: &mut PgConnection,
    events: &[Uuid],
) -> Result<Vec<(EventId, Delivery)>, Error> {
    let rows = sqlx::query!(
        "
        select id, event_id, endpoint_id, state, attempts, next_attempt_at, ended_at
        from deliveries
        where event_id = any($1)
        order by id
        ",
        events,
    )
    .fetch_all(conn)
    .await?;
    let deliveries = rows.into_iter().map(|row| {
        let delivery = Delivery {
            id: row.id.into(),
            endpoint: row.endpoint_id.into(),
            state: row.state,
            attempts: row.attempts,
            next_attempt_at: row.next_attempt_at,
            ended_at: row.ended_at,
        };
        (EventId::from(row.event_id), delivery)
    });
    Ok(deliveries.collect())
}
