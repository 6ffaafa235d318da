//! Loading deliveries that have not ended, many to a statement.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use domain::{
    event::{Envelope, EventData, EventKind, MediaCreated, MediaModerated},
    id::DeliveryId,
    media::Status,
};
use serde_json::value::RawValue;
use sqlx::{PgPool, types::Json};
use tracing::error;
use uuid::Uuid;

use super::{Asker, Loaded, Row};
use crate::{
    Error,
    encryption::MasterKey,
    gather::{Bounds, Loader},
};

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    batch: 128,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// Loads deliveries that have not ended.
pub fn loader(pool: PgPool, key: MasterKey) -> Loader<DeliveryId, Loaded, Asker> {
    Loader::shared(pool, "deliveries", BOUNDS, move |pool, deliveries| {
        let key = key.clone();
        async move { load(&pool, &key, &deliveries).await }
    })
}

async fn load(
    pool: &PgPool,
    key: &MasterKey,
    deliveries: &[DeliveryId],
) -> Result<HashMap<DeliveryId, Loaded>, Error> {
    let ids: Vec<Uuid> = deliveries.iter().map(|id| id.as_uuid()).collect();
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            d.id,
            d.attempts,
            d.earlier_attempts,
            e.id as event_id,
            e.kind,
            e.occurred_at,
            p.id as endpoint_id,
            p.url,
            p.disabled_at is not null as "disabled!",
            p.headers,
            p.max_per_second,
            h.failing_since as "failing_since?",
            h.failures as "failures?",
            h.openings as "openings?",
            h.open_until as "open_until?",
            h.probe_until as "probe_until?",
            clock_timestamp() as "at!",
            s.webhook_secret,
            s.next_webhook_secret,
            coalesce(s.next_webhook_secret_at <= now(), false) as "is_active!",
            coalesce(s.next_webhook_secret_at > now() - interval '24 hours', false) as "is_grace!",
            m.id as media_id,
            m.traceparent,
            m.app_media_id,
            m.site_id,
            s.team_id,
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
        left join webhook_endpoint_states h on h.endpoint_id = p.id
        -- Nothing is told of an item that is being erased. Its deliveries are removed soon.
        join media m on m.id = e.media_id and m.erased_at is null
        left join verdicts v on v.media_id = e.media_id and v.number = e.verdict
        where d.id = any($1) and d.state = 'pending'
        "#,
        &ids,
    )
    .fetch_all(pool)
    .await?;

    let ahead = not_attempted(pool, &ids, &rows).await?;
    let mut found = HashMap::with_capacity(rows.len());
    for row in rows {
        let delivery = DeliveryId::from(row.id);
        let held_by = row.told_before().filter(|first| ahead.contains(first));
        // A row that cannot be read must not stop the other deliveries.
        let trace = row.trace();
        let loaded = match row.prepare(key, held_by) {
            Ok(prepared) => Loaded::Ready(Arc::new(prepared)),
            Err(error) => {
                trace.sync_scope(
                    || error!(%error, delivery.id = %delivery, "cannot prepare a delivery"),
                );
                Loaded::Unreadable
            }
        };
        found.insert(delivery, loaded);
    }
    Ok(found)
}

/// Of the deliveries that should arrive before one of these, those without a finished attempt. The
/// rows that were just read need no other query.
async fn not_attempted(
    pool: &PgPool,
    asked: &[Uuid],
    rows: &[Row],
) -> Result<HashSet<DeliveryId>, Error> {
    let before: HashSet<Uuid> = rows
        .iter()
        .filter_map(Row::told_before)
        .map(DeliveryId::as_uuid)
        .collect();
    let asked: HashSet<&Uuid> = asked.iter().collect();
    let mut waiting: HashSet<DeliveryId> = rows
        .iter()
        .filter(|row| row.attempts == 0 && before.contains(&row.id))
        .map(|row| row.id.into())
        .collect();
    let others: Vec<Uuid> = before
        .into_iter()
        .filter(|before| !asked.contains(before))
        .collect();
    if !others.is_empty() {
        let found = sqlx::query_scalar!(
            "select id from deliveries where id = any($1) and state = 'pending' and attempts = 0",
            &others,
        )
        .fetch_all(pool)
        .await?;
        waiting.extend(found.into_iter().map(DeliveryId::from));
    }
    Ok(waiting)
}

/// What an event's body tells, as it is stored.
pub(super) struct Told {
    pub(super) kind: EventKind,
    pub(super) occurred_at: DateTime<Utc>,
    pub(super) media_id: Uuid,
    pub(super) app_media_id: Option<String>,
    pub(super) site_id: Uuid,
    pub(super) content_type: String,
    pub(super) created_at: DateTime<Utc>,
    pub(super) metadata: Option<Json<Box<RawValue>>>,
    pub(super) status: Option<String>,
    pub(super) previous_status: Option<String>,
    pub(super) moderation_type: Option<String>,
    pub(super) moderated_at: Option<DateTime<Utc>>,
    pub(super) details: Option<Json<Box<RawValue>>>,
}

impl Told {
    /// The raw body, the same for every attempt.
    pub(super) fn to_body(&self) -> Result<Vec<u8>, Error> {
        let metadata = self.metadata.as_ref().map(|metadata| &*metadata.0);
        let media_id = self.media_id.into();
        let site_id = self.site_id.into();
        let app_media_id = self.app_media_id.as_deref();
        let data = match self.kind {
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
        let envelope = Envelope {
            event: self.kind,
            timestamp: self.occurred_at,
            data,
        };
        Ok(envelope.to_body())
    }
}

/// A column of the verdict, which every `media.moderated` event has.
fn verdict<T>(column: Option<T>) -> Result<T, Error> {
    column.ok_or_else(|| Error::Unreadable("a media.moderated event without its verdict".into()))
}
