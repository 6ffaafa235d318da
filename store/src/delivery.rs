//! The delivery step: what is sent to an endpoint, and what has to be minded before.

mod attempt;
mod body;
mod item;
mod list;
mod progress;
mod record;
mod resend;
pub(crate) mod retention;

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, TeamId},
    signature::SigningSecrets,
    webhook::{CustomHeader, Health, LONGEST_HOLD},
};
use serde_json::value::RawValue;
use sqlx::{PgPool, types::Json};
use tracing::error;
use uuid::Uuid;

use self::body::Told;
pub use self::{
    attempt::{Attempt, Attempted, DeliveryState},
    item::{Delivery, LoggedAttempt, find},
    list::{Filter, Listed, Page, WALKED, list},
    progress::{DeliveryDied, HandedOn, Progress},
    resend::{NotResent, Resent, resend},
};
pub(crate) use self::{list::endpoints, resend::MOST_ATTEMPTS};

use crate::{
    Error,
    endpoint::{self, health},
    gather::{Bounds, Loader},
    seal::MasterKey,
    site::webhook_secret::Sealed,
};

/// A delivery that has not ended.
#[derive(Clone, Debug)]
pub struct ToDeliver {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The team of the endpoint's site.
    pub team: TeamId,
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
    /// As many of them belong to an earlier schedule, before it was sent again.
    pub earlier_attempts: u16,
    /// When the event happened.
    pub occurred_at: DateTime<Utc>,
    /// What signs it.
    pub secrets: SigningSecrets,
    /// What the endpoint's owner wants on every request.
    pub headers: Vec<CustomHeader>,
    /// How the endpoint fares.
    pub health: Health,
    /// By Postgres's clock, when all of this was so.
    pub at: DateTime<Utc>,
    /// How many requests a second the endpoint takes; none: as many as there are.
    pub max_per_second: Option<u32>,
    /// What the endpoint should be told first and has not been told: the acceptance of the same item.
    pub held_by: Option<DeliveryId>,
    /// The raw body to sign and send; the same for every attempt.
    pub body: Vec<u8>,
}

/// Who asks: a team. Jobs of older binaries do not name theirs, and are taken for one team's.
pub type Asker = Option<TeamId>;

const BOUNDS: Bounds = Bounds {
    waiting: 8_192,
    waiting_bytes: 1 << 20,
    batch: 128,
    batch_bytes: 1 << 20,
    runners: 2,
};

/// A delivery that has not ended, as it was found.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// Ready to be sent.
    Ready(Arc<ToDeliver>),
    /// What is stored cannot be read: why is in the log.
    Unreadable,
}

/// Loads deliveries that have not ended.
pub fn loader(pool: PgPool, key: MasterKey) -> Loader<DeliveryId, Loaded, Asker> {
    Loader::shared(pool, "deliveries", BOUNDS, move |pool, deliveries| {
        let key = key.clone();
        async move { load(&pool, &key, &deliveries).await }
    })
}

struct Row {
    id: Uuid,
    attempts: i16,
    earlier_attempts: i16,
    event_id: Uuid,
    kind: String,
    occurred_at: DateTime<Utc>,
    endpoint_id: Uuid,
    url: String,
    disabled: bool,
    headers: Option<Vec<u8>>,
    max_per_second: Option<i32>,
    failing_since: Option<DateTime<Utc>>,
    failures: Option<i32>,
    openings: Option<i32>,
    open_until: Option<DateTime<Utc>>,
    probe_until: Option<DateTime<Utc>>,
    at: DateTime<Utc>,
    webhook_secret: Vec<u8>,
    next_webhook_secret: Option<Vec<u8>>,
    is_active: bool,
    is_grace: bool,
    media_id: Uuid,
    app_media_id: Option<String>,
    site_id: Uuid,
    team_id: Uuid,
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
        join media m on m.id = e.media_id
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
        // One row that cannot be read must not keep its neighbours from being delivered.
        let loaded = match row.prepare(key, held_by) {
            Ok(prepared) => Loaded::Ready(Arc::new(prepared)),
            Err(error) => {
                error!(%error, delivery.id = %delivery, "a delivery cannot be prepared");
                Loaded::Unreadable
            }
        };
        found.insert(delivery, loaded);
    }
    Ok(found)
}

/// Of the deliveries that are to go before one of these, those of which no attempt has ended. What was asked for is known.
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

impl Row {
    /// The delivery that the endpoint should get before this one, if that is still worth waiting for.
    fn told_before(&self) -> Option<DeliveryId> {
        let age = (self.at - self.occurred_at).to_std().unwrap_or_default();
        let is_first = self.attempts == 0 && age < LONGEST_HOLD;
        (is_first && self.kind == EventKind::MediaModerated.as_str()).then(|| {
            let acceptance = EventId::of_acceptance(MediaId::from(self.media_id));
            DeliveryId::of(acceptance, self.endpoint_id.into())
        })
    }

    fn prepare(self, key: &MasterKey, held_by: Option<DeliveryId>) -> Result<ToDeliver, Error> {
        let kind: EventKind = self.kind.parse()?;
        let site_id = self.site_id.into();
        let endpoint = EndpointId::from(self.endpoint_id);
        let told = Told {
            kind,
            occurred_at: self.occurred_at,
            media_id: self.media_id,
            app_media_id: self.app_media_id,
            site_id: self.site_id,
            content_type: self.content_type,
            created_at: self.created_at,
            metadata: self.metadata,
            status: self.status,
            previous_status: self.previous_status,
            moderation_type: self.moderation_type,
            moderated_at: self.moderated_at,
            details: self.details,
        };
        let secrets = Sealed {
            secret: &self.webhook_secret,
            next: self.next_webhook_secret.as_deref(),
            is_active: self.is_active,
            is_grace: self.is_grace,
        };
        let headers = match &self.headers {
            Some(sealed) => endpoint::open_headers(key, endpoint, sealed)?,
            None => Vec::new(),
        };
        let health = health::Row {
            failing_since: self.failing_since,
            failures: self.failures,
            openings: self.openings,
            open_until: self.open_until,
            probe_until: self.probe_until,
            at: self.at,
        };
        Ok(ToDeliver {
            delivery: self.id.into(),
            team: self.team_id.into(),
            event: self.event_id.into(),
            kind,
            endpoint,
            secrets: secrets.open(key, site_id)?,
            url: self.url,
            disabled: self.disabled,
            attempts: u16::try_from(self.attempts).unwrap_or(0),
            earlier_attempts: u16::try_from(self.earlier_attempts).unwrap_or(0),
            occurred_at: self.occurred_at,
            headers,
            health: health.health(),
            at: self.at,
            max_per_second: self.max_per_second.map(i32::unsigned_abs),
            held_by,
            body: told.to_body()?,
        })
    }
}
