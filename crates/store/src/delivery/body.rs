//! The body of an event, rendered from columns that never change after it.

use chrono::{DateTime, Utc};
use domain::{
    event::{Envelope, EventData, EventKind, MediaCreated, MediaModerated},
    media::Status,
};
use serde_json::value::RawValue;
use sqlx::types::Json;
use uuid::Uuid;

use crate::Error;

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
