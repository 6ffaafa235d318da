//! A delivery's row, and what becomes of it: a request that is ready to be sent.

use chrono::{DateTime, Utc};
use domain::{
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId},
    webhook::LONGEST_HOLD,
};
use serde_json::value::RawValue;
use sqlx::types::Json;
use telemetry::trace::{Context, Current, Step};
use uuid::Uuid;

use super::{ToDeliver, body::Told};
use crate::{
    Error,
    encryption::MasterKey,
    endpoint::{self, health},
    site::webhook_secret::Sealed,
};

pub(super) struct Row {
    pub(super) id: Uuid,
    pub(super) attempts: i16,
    pub(super) earlier_attempts: i16,
    pub(super) event_id: Uuid,
    pub(super) kind: String,
    pub(super) occurred_at: DateTime<Utc>,
    pub(super) endpoint_id: Uuid,
    pub(super) url: String,
    pub(super) disabled: bool,
    pub(super) headers: Option<Vec<u8>>,
    pub(super) max_per_second: Option<i32>,
    pub(super) failing_since: Option<DateTime<Utc>>,
    pub(super) failures: Option<i32>,
    pub(super) openings: Option<i32>,
    pub(super) open_until: Option<DateTime<Utc>>,
    pub(super) probe_until: Option<DateTime<Utc>>,
    pub(super) at: DateTime<Utc>,
    pub(super) webhook_secret: Vec<u8>,
    pub(super) next_webhook_secret: Option<Vec<u8>>,
    pub(super) is_active: bool,
    pub(super) is_grace: bool,
    pub(super) media_id: Uuid,
    pub(super) traceparent: Option<Vec<u8>>,
    pub(super) app_media_id: Option<String>,
    pub(super) site_id: Uuid,
    pub(super) team_id: Uuid,
    pub(super) content_type: String,
    pub(super) created_at: DateTime<Utc>,
    pub(super) metadata: Option<Json<Box<RawValue>>>,
    pub(super) status: Option<String>,
    pub(super) previous_status: Option<String>,
    pub(super) moderation_type: Option<String>,
    pub(super) moderated_at: Option<DateTime<Utc>>,
    pub(super) details: Option<Json<Box<RawValue>>>,
}

impl Row {
    /// The delivery that the endpoint should get before this one, if that is still worth waiting
    /// for.
    pub(super) fn told_before(&self) -> Option<DeliveryId> {
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
    pub(super) fn trace(&self) -> Current {
        Current::of(Step::after(self.context(), self.team_id.into_bytes()))
    }

    pub(super) fn prepare(
        self,
        key: &MasterKey,
        held_by: Option<DeliveryId>,
    ) -> Result<ToDeliver, Error> {
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
