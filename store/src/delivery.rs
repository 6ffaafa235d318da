//! The delivery step: what is sent to an endpoint, and how each attempt ended.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use domain::{
    event::{Envelope, EventData, EventKind, MediaCreated, MediaModerated},
    id::{DeliveryId, EndpointId, EventId},
    media::Status,
    signature::WebhookSecret,
};
use queue::{DeadJob, Effect, FinishTx, Obituary, Survivor};
use serde_json::value::RawValue;
use sqlx::{PgConnection, PgPool, types::Json};
use tracing::error;
use uuid::Uuid;

use crate::{
    Error,
    gather::{Bounds, Loader},
    jobs::DeliveryJob,
    seal::MasterKey,
    tenant,
};

/// A delivery that has not ended.
#[derive(Clone, Debug)]
pub struct ToDeliver {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The event, the same for all endpoints.
    pub event: EventId,
    /// What kind of event it is.
    pub kind: EventKind,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// The endpoint's URL.
    pub url: String,
    /// Whether the endpoint was disabled since.
    pub disabled: bool,
    /// Attempts made so far.
    pub attempts: u16,
    /// When the event happened.
    pub occurred_at: DateTime<Utc>,
    /// What signs it.
    pub secret: WebhookSecret,
    /// The raw body to sign and send; the same for every attempt.
    pub body: Vec<u8>,
}

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    batch: 128,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// Loads deliveries that have not ended.
pub fn loader(pool: PgPool, key: MasterKey) -> Loader<DeliveryId, Arc<ToDeliver>> {
    Loader::start(pool, "deliveries", BOUNDS, move |pool, deliveries| {
        let key = key.clone();
        async move { load(&pool, &key, &deliveries).await }
    })
}

struct Row {
    id: Uuid,
    attempts: i16,
    event_id: Uuid,
    kind: String,
    occurred_at: DateTime<Utc>,
    endpoint_id: Uuid,
    url: String,
    disabled: bool,
    webhook_secret: Vec<u8>,
    media_id: Uuid,
    app_media_id: Option<String>,
    site_id: Uuid,
    content_type: String,
    created_at: DateTime<Utc>,
    metadata: Option<Json<Box<RawValue>>>,
    status: Option<String>,
    previous_status: Option<String>,
    moderation_type: Option<String>,
    moderated_at: Option<DateTime<Utc>>,
    details: Option<Json<Box<RawValue>>>,
}

async fn load(
    pool: &PgPool,
    key: &MasterKey,
    deliveries: &[DeliveryId],
) -> Result<HashMap<DeliveryId, Arc<ToDeliver>>, Error> {
    let ids: Vec<Uuid> = deliveries.iter().map(|id| id.as_uuid()).collect();
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            d.id,
            d.attempts,
            e.id as event_id,
            e.kind,
            e.occurred_at,
            p.id as endpoint_id,
            p.url,
            p.disabled_at is not null as "disabled!",
            s.webhook_secret,
            m.id as media_id,
            m.app_media_id,
            m.site_id,
            m.content_type,
            m.created_at,
            m.metadata as "metadata: Json<Box<RawValue>>",
            v.status as "status?",
            v.previous_status as "previous_status?",
            v.moderation_type as "moderation_type?",
            v.moderated_at as "moderated_at?",
            v.details as "details?: Json<Box<RawValue>>"
        from deliveries d
        join events e on e.id = d.event_id
        join webhook_endpoints p on p.id = d.endpoint_id
        join sites s on s.id = p.site_id
        join media m on m.id = e.media_id
        left join verdicts v on v.media_id = e.media_id and v.number = e.verdict
        where d.id = any($1) and d.state = 'pending'
        "#,
        &ids,
    )
    .fetch_all(pool)
    .await?;

    let mut found = HashMap::with_capacity(rows.len());
    for row in rows {
        let delivery = DeliveryId::from(row.id);
        match row.prepare(key) {
            Ok(prepared) => {
                found.insert(delivery, Arc::new(prepared));
            }
            // One row that cannot be read must not keep its neighbours from being delivered.
            Err(error) => error!(%error, delivery.id = %delivery, "a delivery cannot be prepared"),
        }
    }
    Ok(found)
}

impl Row {
    fn prepare(self, key: &MasterKey) -> Result<ToDeliver, Error> {
        let kind: EventKind = self.kind.parse()?;
        let metadata = self.metadata.as_ref().map(|metadata| &*metadata.0);
        let media_id = self.media_id.into();
        let site_id = self.site_id.into();
        let app_media_id = self.app_media_id.as_deref();
        let data = match kind {
            EventKind::MediaCreated => EventData::Created(MediaCreated {
                media_id,
                app_media_id,
                site_id,
                status: Status::Pending,
                content_type: self.content_type.parse()?,
                created_at: self.created_at,
                metadata,
            }),
            EventKind::MediaModerated => EventData::Moderated(MediaModerated {
                media_id,
                app_media_id,
                site_id,
                status: verdict(self.status.as_deref())?.parse()?,
                previous_status: verdict(self.previous_status.as_deref())?.parse()?,
                moderation_type: verdict(self.moderation_type.as_deref())?.parse()?,
                moderated_at: verdict(self.moderated_at)?,
                moderation_details: self.details.as_ref().map(|details| &*details.0),
                metadata,
            }),
        };
        let body = Envelope {
            event: kind,
            timestamp: self.occurred_at,
            data,
        }
        .to_body();
        Ok(ToDeliver {
            delivery: self.id.into(),
            event: self.event_id.into(),
            kind,
            endpoint: self.endpoint_id.into(),
            url: self.url,
            disabled: self.disabled,
            attempts: u16::try_from(self.attempts).unwrap_or(0),
            occurred_at: self.occurred_at,
            secret: tenant::open_webhook_secret(key, site_id, &self.webhook_secret)?,
            body,
        })
    }
}

/// A column of the verdict, which every `media.moderated` event has.
fn verdict<T>(column: Option<T>) -> Result<T, Error> {
    column.ok_or_else(|| Error::Unreadable("a media.moderated event without its verdict".into()))
}

/// How an attempt went.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Which one, from 1.
    pub number: u16,
    /// How long it took.
    pub elapsed: Duration,
    /// How it ended, in one word: `delivered`, `status`, `timeout`, `refused`, ...
    pub outcome: &'static str,
    /// The answer's status.
    pub status_code: Option<u16>,
    /// The first bytes of the answer.
    pub response_body: Option<Vec<u8>>,
}

/// What becomes of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryState {
    /// There will be another attempt after this time.
    Pending(Duration),
    /// The endpoint has it.
    Delivered,
    /// Its attempts are spent.
    Exhausted,
    /// Its endpoint is disabled.
    Discarded,
}

impl DeliveryState {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Pending(_) => "pending",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Discarded => "discarded",
        }
    }
}

/// The effect of a run of a delivery: the attempt, if one was made, is logged, and the delivery goes on or ends.
#[derive(Debug)]
pub struct Attempted {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The attempt that was made.
    pub attempt: Option<Attempt>,
    /// Where the delivery stands now.
    pub state: DeliveryState,
    /// Set when the endpoint asked for no more: it is disabled for this reason.
    pub disable: Option<(EndpointId, &'static str)>,
}

impl Effect for Attempted {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let runs: Vec<&Self> = batch.iter().map(|survivor| survivor.effect).collect();
        log_attempts(tx.conn, &runs).await?;
        update_deliveries(tx.conn, &runs).await?;
        disable_endpoints(tx.conn, &runs).await
    }
}

async fn log_attempts(conn: &mut PgConnection, runs: &[&Attempted]) -> Result<(), sqlx::Error> {
    let attempts: Vec<(&Attempted, &Attempt)> = runs
        .iter()
        .filter_map(|run| run.attempt.as_ref().map(|attempt| (*run, attempt)))
        .collect();
    if attempts.is_empty() {
        return Ok(());
    }
    let deliveries: Vec<Uuid> = attempts
        .iter()
        .map(|(run, _)| run.delivery.as_uuid())
        .collect();
    let numbers: Vec<i16> = attempts.iter().map(|(_, a)| small(a.number)).collect();
    let durations: Vec<i32> = attempts
        .iter()
        .map(|(_, a)| i32::try_from(a.elapsed.as_millis()).unwrap_or(i32::MAX))
        .collect();
    let outcomes: Vec<&str> = attempts.iter().map(|(_, a)| a.outcome).collect();
    let codes: Vec<Option<i16>> = attempts
        .iter()
        .map(|(_, a)| a.status_code.map(small))
        .collect();
    let bodies: Vec<Option<&[u8]>> = attempts
        .iter()
        .map(|(_, a)| a.response_body.as_deref())
        .collect();
    // The start is reckoned back from Postgres's clock: workers' clocks may differ.
    sqlx::query!(
        "
        insert into delivery_attempts
            (delivery_id, number, started_at, duration_ms, outcome, status_code, response_body)
        select
            delivery_id, number, clock_timestamp() - duration_ms * interval '1 millisecond', duration_ms,
            outcome, status_code, response_body
        from unnest($1::uuid [], $2::smallint [], $3::integer [], $4::text [], $5::smallint [], $6::bytea [])
            as a (delivery_id, number, duration_ms, outcome, status_code, response_body)
        ",
        &deliveries,
        &numbers,
        &durations,
        &outcomes as &[&str],
        &codes as &[Option<i16>],
        &bodies as &[Option<&[u8]>],
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn update_deliveries(
    conn: &mut PgConnection,
    runs: &[&Attempted],
) -> Result<(), sqlx::Error> {
    let deliveries: Vec<Uuid> = runs.iter().map(|run| run.delivery.as_uuid()).collect();
    let made: Vec<i16> = runs
        .iter()
        .map(|run| i16::from(run.attempt.is_some()))
        .collect();
    let states: Vec<&str> = runs.iter().map(|run| run.state.as_str()).collect();
    let delays: Vec<Option<i64>> = runs
        .iter()
        .map(|run| match run.state {
            DeliveryState::Pending(delay) => {
                Some(i64::try_from(delay.as_millis()).unwrap_or(i64::MAX))
            }
            DeliveryState::Delivered | DeliveryState::Exhausted | DeliveryState::Discarded => None,
        })
        .collect();
    sqlx::query!(
        "
        update deliveries d
        set
            state = r.state,
            attempts = d.attempts + r.made,
            next_attempt_at = now() + r.delay_ms * interval '1 millisecond',
            ended_at = case when r.delay_ms is null then now() end
        from unnest($1::uuid [], $2::smallint [], $3::text [], $4::bigint []) as r (delivery_id, made, state, delay_ms)
        where d.id = r.delivery_id and d.state = 'pending'
        ",
        &deliveries,
        &made,
        &states as &[&str],
        &delays as &[Option<i64>],
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn disable_endpoints(
    conn: &mut PgConnection,
    runs: &[&Attempted],
) -> Result<(), sqlx::Error> {
    let (endpoints, reasons): (Vec<Uuid>, Vec<&str>) = runs
        .iter()
        .filter_map(|run| run.disable)
        .map(|(endpoint, reason)| (endpoint.as_uuid(), reason))
        .unzip();
    if endpoints.is_empty() {
        return Ok(());
    }
    sqlx::query!(
        "
        update webhook_endpoints p
        set disabled_at = now(), disabled_reason = r.reason
        from unnest($1::uuid [], $2::text []) as r (endpoint_id, reason)
        where p.id = r.endpoint_id and p.disabled_at is null
        ",
        &endpoints,
        &reasons as &[&str],
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Attempt numbers and HTTP statuses fit a `smallint`.
fn small(number: u16) -> i16 {
    i16::try_from(number).unwrap_or(i16::MAX)
}

/// A delivery whose job died, because workers died with it again and again: it counts as exhausted and can be replayed.
pub struct DeliveryDied;

impl Obituary for DeliveryDied {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let died: Vec<Attempted> = dead
            .iter()
            .filter_map(|job| {
                let Ok(DeliveryJob { delivery }) = job.args() else {
                    error!(job.id = %job.id, "a dead delivery job names no delivery");
                    return None;
                };
                Some(Attempted {
                    delivery,
                    attempt: None,
                    state: DeliveryState::Exhausted,
                    disable: None,
                })
            })
            .collect();
        update_deliveries(tx.conn, &died.iter().collect::<Vec<_>>()).await
    }
}
