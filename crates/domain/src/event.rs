//! Events and the exact JSON that webhooks carry.
//!
//! A payload is not stored: it is rendered from columns that never change after the event, so every
//! attempt of a delivery carries the same bytes.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{
    id::{MediaId, SiteId},
    media::{ContentType, ModerationType, Status, named_set},
    signature::{WebhookSecret, sign_service},
};

named_set! {
    /// The kinds of event an endpoint can subscribe to.
    EventKind {
        /// A media item was accepted.
        MediaCreated = "media.created",
        /// Moderation of a media item finished, or a person changed its verdict.
        MediaModerated = "media.moderated",
    }
}

/// What every webhook body looks like.
#[derive(Debug, Serialize)]
pub struct Envelope<'a> {
    /// The event's name.
    pub event: EventKind,
    /// When it happened.
    #[serde(serialize_with = "iso8601")]
    pub timestamp: DateTime<Utc>,
    /// The event's own fields.
    pub data: EventData<'a>,
}

/// The fields of each kind of event.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum EventData<'a> {
    /// Of `media.created`.
    Created(MediaCreated<'a>),
    /// Of `media.moderated`.
    Moderated(MediaModerated<'a>),
}

/// The data of `media.created`.
#[derive(Debug, Serialize)]
pub struct MediaCreated<'a> {
    /// The item.
    pub media_id: MediaId,
    /// The application's own identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_media_id: Option<&'a str>,
    /// The site that owns it.
    pub site_id: SiteId,
    /// Always `pending`.
    pub status: Status,
    /// What was submitted.
    pub content_type: ContentType,
    /// When it was accepted.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// What the application sent along, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a RawValue>,
}

/// The data of `media.moderated`.
#[derive(Debug, Serialize)]
pub struct MediaModerated<'a> {
    /// The item.
    pub media_id: MediaId,
    /// The application's own identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app_media_id: Option<&'a str>,
    /// The site that owns it.
    pub site_id: SiteId,
    /// The verdict.
    pub status: Status,
    /// What it was before.
    pub previous_status: Status,
    /// Who or what decided.
    pub moderation_type: ModerationType,
    /// When it was decided.
    #[serde(serialize_with = "iso8601")]
    pub moderated_at: DateTime<Utc>,
    /// Why: [`crate::decision::ModerationDetails`] as the verdict stored it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moderation_details: Option<&'a RawValue>,
    /// What the application sent along, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<&'a RawValue>,
}

impl Envelope<'_> {
    /// The raw body: compact JSON, the bytes that are signed and sent.
    pub fn to_body(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an envelope has string keys and finite numbers only")
    }
}

/// A time as the interface writes it: ISO 8601, UTC, microseconds (`2026-01-31T12:00:00.123456Z`).
pub fn timestamp(time: DateTime<Utc>) -> String {
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Serializes a time as [`timestamp`] writes it: `#[serde(serialize_with =
/// "domain::event::iso8601")]`.
pub fn iso8601<S: Serializer>(time: &DateTime<Utc>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&timestamp(*time))
}

/// Serializes a time like [`iso8601`], and none as null.
///
/// # Errors
/// Those of the serializer.
pub fn iso8601_or_null<S: Serializer>(
    time: &Option<DateTime<Utc>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => iso8601(time, serializer),
        None => serializer.serialize_none(),
    }
}

/// The name of the event with which the owner of an endpoint tests whether it works. It belongs to no item and is stored in
/// no table.
pub const PING: &str = "webhook.test.ping";

#[derive(Serialize)]
struct Ping {
    event: &'static str,
    #[serde(serialize_with = "iso8601")]
    timestamp: DateTime<Utc>,
    data: PingData,
    #[serde(rename = "_service_signature", skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

#[derive(Serialize)]
struct PingData {
    site_id: SiteId,
    test: bool,
    message: &'static str,
}

/// The raw body of [`PING`]. Its last member, `_service_signature`, signs the compact JSON of all others.
pub fn ping(site: SiteId, at: DateTime<Utc>, secret: &WebhookSecret) -> Vec<u8> {
    let mut ping = Ping {
        event: PING,
        timestamp: at,
        data: PingData {
            site_id: site,
            test: true,
            message: "This is a test event.",
        },
        signature: None,
    };
    ping.signature = Some(sign_service(secret, &ping.to_json()));
    ping.to_json()
}

impl Ping {
    fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a ping has string keys only")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_created_event_has_the_documented_fields_and_echoes_metadata_unchanged() {
        let metadata = RawValue::from_string(r#"{"z":1.50,"a":1e2}"#.to_owned()).unwrap();
        let at = DateTime::from_timestamp_micros(1_767_225_600_000_001).unwrap();
        let id = uuid::Uuid::from_u128(1);
        let body = Envelope {
            event: EventKind::MediaCreated,
            timestamp: at,
            data: EventData::Created(MediaCreated {
                media_id: id.into(),
                app_media_id: None,
                site_id: id.into(),
                status: Status::Pending,
                content_type: ContentType::Text,
                created_at: at,
                metadata: Some(&metadata),
            }),
        }
        .to_body();
        assert_eq!(
            String::from_utf8(body).unwrap(),
            r#"{"event":"media.created","timestamp":"2026-01-01T00:00:00.000001Z","data":{"media_id":"00000000-0000-0000-0000-000000000001","site_id":"00000000-0000-0000-0000-000000000001","status":"pending","content_type":"text","created_at":"2026-01-01T00:00:00.000001Z","metadata":{"z":1.50,"a":1e2}}}"#
        );
    }

    /// Computed with `openssl dgst -sha256 -hmac`.
    const SIGNED: &str = concat!(
        r#"{"event":"webhook.test.ping","timestamp":"2023-11-14T22:13:20.000001Z","#,
        r#""data":{"site_id":"018f3f3e-0000-7000-8000-00000000000a","test":true,"message":"This is a test event."},"#,
        r#""_service_signature":"sha256=9b2331b6637d9ee4ba8aae5a512e18051278d8b0e9d80d069179e4f456f984ad"}"#,
    );

    #[test]
    fn its_body_is_signed_by_its_last_member_as_an_independent_tool_signs_it() {
        let secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
        let site = "018f3f3e-0000-7000-8000-00000000000a".parse().unwrap();
        let at = DateTime::from_timestamp_micros(1_700_000_000_000_001).unwrap();
        let body = ping(site, at, &secret.parse().unwrap());
        assert_eq!(String::from_utf8(body).unwrap(), SIGNED);
    }
}
