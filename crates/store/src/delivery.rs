//! The delivery step: what is sent to an endpoint, and what must be checked before.

mod details;
mod list;
mod load;
mod record;
pub(crate) mod retention;

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use domain::{
    breaker::Right,
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, SiteId, TeamId},
    reach::Reach,
    signature::SigningSecrets,
    webhook::{CustomHeader, DeliveryStatus, Health, LONGEST_HOLD},
};
use queue::NewJobs;
use serde_json::value::RawValue;
use sqlx::{PgConnection, types::Json};
use telemetry::trace::{Context, Current, Step};
use uuid::Uuid;

pub(crate) use self::list::endpoints;
use self::load::Told;
pub use self::{
    details::{Delivery, Latest, LoggedAttempt, find, latest},
    list::{Filter, Listed, Page, WALKED, list},
    load::loader,
    record::{DeliveryDied, HandedOn, Progress},
};
use crate::{
    Error,
    encryption::MasterKey,
    endpoint::{self, health},
    jobs,
    site::webhook_secret::Sealed,
};

/// A delivery that has not ended.
#[derive(Clone, Debug)]
pub struct ToDeliver {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The item that it is about.
    pub media: MediaId,
    /// The item's trace.
    pub trace: telemetry::trace::Context,
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
    /// Whether the endpoint was disabled in the meantime.
    pub disabled: bool,
    /// Attempts made so far.
    pub attempts: u16,
    /// How many of them belong to an earlier schedule, before the delivery was sent again.
    pub earlier_attempts: u16,
    /// When the event happened.
    pub occurred_at: DateTime<Utc>,
    /// What signs it.
    pub secrets: SigningSecrets,
    /// The headers that the endpoint's owner wants on every request.
    pub headers: Vec<CustomHeader>,
    /// The endpoint's delivery health.
    pub health: Health,
    /// When all of this was read, by Postgres's clock.
    pub at: DateTime<Utc>,
    /// The endpoint's limit of requests per second. `None` means no limit.
    pub max_per_second: Option<u32>,
    /// The delivery that should reach the endpoint first and has not: the acceptance of the same
    /// item.
    pub held_by: Option<DeliveryId>,
    /// The raw body to sign and send; the same for every attempt.
    pub body: Vec<u8>,
}

/// Who asks: a team. Jobs of older binaries do not name their team; together they count as one.
pub type Asker = Option<TeamId>;

/// A delivery that has not ended, as it was found.
#[derive(Clone, Debug)]
pub enum Loaded {
    /// Ready to be sent.
    Ready(Arc<ToDeliver>),
    /// Its stored form cannot be read. The reason was logged.
    Unreadable,
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
    /// What is kept of the answer ([`domain::webhook::kept_answer`]).
    pub response_body: Option<Vec<u8>>,
    /// Where it went.
    pub url: String,
    /// Why there was no answer, in words for the endpoint's owner; none if there was one.
    pub error: Option<String>,
    /// What it says about the endpoint; none if nothing new.
    pub sign: Option<(EndpointId, Right)>,
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

/// What a run did for a delivery: it made an attempt, or found that no attempt is needed.
#[derive(Debug)]
pub struct Attempted {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The attempt that was made.
    pub attempt: Option<Attempt>,
    /// The delivery's state now.
    pub state: DeliveryState,
    /// Set when the endpoint asked for no more requests. The endpoint is then disabled for this
    /// reason.
    pub disable: Option<(EndpointId, &'static str)>,
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
    traceparent: Option<Vec<u8>>,
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

impl Row {
    /// The delivery that the endpoint should get before this one, if that is still worth waiting
    /// for.
    fn told_before(&self) -> Option<DeliveryId> {
        let age = (self.at - self.occurred_at).to_std().unwrap_or_default();
        let is_first = self.attempts == 0 && age < LONGEST_HOLD;
        (is_first && self.kind == EventKind::MediaModerated.as_str()).then(|| {
            let acceptance = EventId::of_acceptance(MediaId::from(self.media_id));
            DeliveryId::of(acceptance, self.endpoint_id.into())
        })
    }

    fn context(&self) -> Context {
        Context::of_stored(self.media_id.into_bytes(), self.traceparent.as_deref())
    }

    /// The trace of log lines about it.
    fn trace(&self) -> Current {
        Current::of(Step::after(self.context(), self.team_id.into_bytes()))
    }

    fn prepare(self, key: &MasterKey, held_by: Option<DeliveryId>) -> Result<ToDeliver, Error> {
        let kind: EventKind = self.kind.parse()?;
        let site_id = self.site_id.into();
        let endpoint = EndpointId::from(self.endpoint_id);
        let trace = self.context();
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
            media: self.media_id.into(),
            trace,
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

/// The most attempts after which a delivery is still sent again: they are counted in 16 bits.
pub(crate) const MOST_ATTEMPTS: i16 = 10_000;

/// A delivery that is sent again.
#[derive(Debug)]
pub struct Resent {
    /// Its team.
    pub team: TeamId,
    /// Its site.
    pub site: SiteId,
    /// Its event.
    pub event: EventId,
    /// Where it goes.
    pub endpoint: EndpointId,
    /// Its state before.
    pub from: DeliveryStatus,
    /// The job that sends it. Tell the queue of it after the commit.
    pub jobs: NewJobs,
}

/// Why a delivery is not sent again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotResent {
    /// There is no such delivery within reach.
    Unknown,
    /// It has not ended.
    Pending,
    /// Its endpoint is disabled.
    Disabled,
    /// Its endpoint was deleted.
    Deleted,
    /// It has been sent too often.
    TooOften,
}

/// Sends a delivery that has ended again: at once, and then with a complete new schedule. Run it in
/// a transaction.
pub async fn resend(
    conn: &mut PgConnection,
    reach: Reach,
    delivery: DeliveryId,
) -> Result<Result<Resent, NotResent>, Error> {
    let row = sqlx::query!(
        r#"
        select
            d.event_id, d.endpoint_id, d.state, d.attempts, p.site_id, s.team_id,
            p.disabled_at is not null as "is_disabled!",
            p.deleted_at is not null as "is_deleted!"
        from deliveries d
        join webhook_endpoints p on p.id = d.endpoint_id
        join sites s on s.id = p.site_id
        where d.id = $1 and ($2::uuid is null or s.team_id = $2)
        for update of d
        "#,
        delivery.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else {
        return Ok(Err(NotResent::Unknown));
    };
    let from = row.state.parse()?;
    if from == DeliveryStatus::Pending {
        return Ok(Err(NotResent::Pending));
    }
    if row.is_deleted {
        return Ok(Err(NotResent::Deleted));
    }
    if row.is_disabled {
        return Ok(Err(NotResent::Disabled));
    }
    if row.attempts >= MOST_ATTEMPTS {
        return Ok(Err(NotResent::TooOften));
    }
    sqlx::query!(
        "
        update deliveries
        set state = 'pending', earlier_attempts = attempts, next_attempt_at = now(), ended_at = null
        where id = $1 and state <> 'pending'
        ",
        delivery.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    let endpoint = row.endpoint_id.into();
    let team = row.team_id.into();
    let jobs = NewJobs::from(jobs::deliver(vec![vec![delivery]], endpoint, team));
    queue::enqueue(conn, &jobs).await?;
    Ok(Ok(Resent {
        team,
        site: row.site_id.into(),
        event: row.event_id.into(),
        endpoint,
        from,
        jobs,
    }))
}
