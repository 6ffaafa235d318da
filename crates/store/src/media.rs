//! Media as people and tools see them: lists, one item with its whole history, its image, and a
//! person's decision.
//!
//! Every function takes the caller's [`Reach`](domain::reach::Reach). An item beyond it looks as if
//! it did not exist.

mod decide;
mod item;
mod list;
pub(crate) mod retention;
pub mod transient;

use chrono::{DateTime, Utc};
use domain::{
    decision::ImageProblem,
    event::EventKind,
    id::{DeliveryId, EndpointId, EventId, MediaId, TeamId},
    image::ImageFormat,
    image_hash::{Pdq, Sha256Digest},
    media::{ContentType, ModerationType, Status},
    reach::Reach,
};
use serde_json::value::RawValue;
use sqlx::{PgConnection, PgPool, types::Json};
use uuid::Uuid;

pub(crate) use self::decide::{details_of, moderator};
pub use self::{
    decide::{Decided, Decision, decide, site_of, standing},
    item::{Analysis, Item, PinnedVersion, find},
    list::{BEGINNING, Filter, Listed, Page, WALKED, Waiting, count_waiting, list},
    retention::{Content, RetentionPreview, retention_preview},
};
use crate::Error;

/// Remove items and what belongs to them, besides their events. `$1` are the ids. What people decided stays in `review_opinions`, because reports count it; so does
/// what was added up.
pub(crate) const STATEMENTS: &[&str] = &[
    "delete from media_images where media_id = any($1)",
    "delete from analyses where media_id = any($1)",
    "delete from analysis_parts where media_id = any($1)",
    "delete from analysis_image_parts where media_id = any($1)",
    "delete from analysis_pieces where media_id = any($1)",
    "delete from verdicts where media_id = any($1)",
    "delete from reviews where media_id = any($1)",
    "delete from review_tasks where media_id = any($1)",
    "delete from review_notes where media_id = any($1)",
    "delete from golden_items where media_id = any($1)",
    "delete from image_matches where media_id = any($1)",
    // Also removes the answers of providers that are kept for equal texts.
    "delete from media where id = any($1)",
];

/// Removes these items. Their events must be gone, or go in the same transaction.
pub(crate) async fn remove(conn: &mut PgConnection, items: &[Uuid]) -> Result<(), sqlx::Error> {
    for statement in STATEMENTS {
        sqlx::query(*statement)
            .bind(items)
            .execute(&mut *conn)
            .await?;
    }
    Ok(())
}

/// Bytes of one slice.
pub const SLICE: u32 = 256 << 10;

/// What is known of an item's image.
#[derive(Clone, Copy, Debug)]
pub struct KnownImage {
    /// Its format, by its first bytes; none if there never was a file of a supported format.
    pub format: Option<ImageFormat>,
    /// Its size in bytes; none if the file is not stored, or no longer.
    pub bytes: Option<u32>,
    /// Width and height in pixels; none if it was not decoded.
    pub size: Option<(u32, u32)>,
    /// Of the file as it was submitted; none if it was not examined.
    pub sha256: Option<Sha256Digest>,
    /// Of the picture; none if there is too little to recognise in it.
    pub pdq: Option<Pdq>,
    /// How much there is to recognise in it, from 0 to 100.
    pub pdq_quality: Option<u8>,
    /// Why it could not be analysed; none if it could, or if it was not examined.
    pub problem: Option<ImageProblem>,
}

/// What is known of an item's image; none if nothing is known yet.
pub(crate) async fn known(
    conn: &mut PgConnection,
    media: MediaId,
) -> Result<Option<KnownImage>, Error> {
    let row = sqlx::query!(
        "
        select format, octet_length(bytes) as bytes, width, height, sha256, pdq, pdq_quality, problem
        from media_images
        where media_id = $1
        ",
        media.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        let number = |number: Option<i32>| number.map(i32::unsigned_abs);
        Ok(KnownImage {
            format: row.format.map(|format| format.parse()).transpose()?,
            bytes: number(row.bytes),
            size: number(row.width).zip(number(row.height)),
            sha256: hash(row.sha256)?.map(Sha256Digest::from),
            pdq: hash(row.pdq)?.map(Pdq::from),
            pdq_quality: row.pdq_quality.and_then(|quality| quality.try_into().ok()),
            problem: row.problem.map(|problem| problem.parse()).transpose()?,
        })
    })
    .transpose()
}

fn hash(bytes: Option<Vec<u8>>) -> Result<Option<[u8; 32]>, Error> {
    let bytes = bytes.map(<[u8; 32]>::try_from).transpose();
    bytes.map_err(|_| Error::Unreadable("a hash of other than 32 bytes".into()))
}

/// An item's kind and what is known of its image; none if there is no such item within reach.
pub async fn image_standing(
    conn: &mut PgConnection,
    reach: Reach,
    media: MediaId,
) -> Result<Option<(ContentType, Option<KnownImage>)>, Error> {
    let content_type = sqlx::query_scalar!(
        "select content_type from media where id = $1 and ($2::uuid is null or team_id = $2)",
        media.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    match content_type {
        Some(content_type) => Ok(Some((content_type.parse()?, known(conn, media).await?))),
        None => Ok(None),
    }
}

/// An image that is there.
#[derive(Clone, Copy, Debug)]
pub struct Image {
    /// The item.
    pub media: MediaId,
    /// Its format, by its first bytes.
    pub format: ImageFormat,
    /// Its size in bytes.
    pub bytes: u32,
}

/// An item's image; none if there is no such item within reach, or if its image is not stored, or
/// no longer.
pub async fn image(
    conn: &mut PgConnection,
    reach: Reach,
    media: MediaId,
) -> Result<Option<Image>, Error> {
    let row = sqlx::query!(
        r#"
        select i.format as "format!", octet_length(i.bytes) as "bytes!"
        from media m
        join media_images i on i.media_id = m.id and i.format is not null and i.bytes is not null
        where m.id = $1 and ($2::uuid is null or m.team_id = $2)
        "#,
        media.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        Ok(Image {
            media,
            format: row.format.parse()?,
            bytes: u32::try_from(row.bytes).unwrap_or(0),
        })
    })
    .transpose()
}

/// Up to [`SLICE`] bytes of an image, from this byte on; none if it was removed in the meantime.
pub async fn image_slice(pool: &PgPool, image: Image, from: u32) -> Result<Option<Vec<u8>>, Error> {
    // The bytes are stored out of line and uncompressed, so a slice reads nothing but itself.
    let slice = sqlx::query_scalar!(
        r#"
        select substring(bytes from $2 + 1 for $3) as "slice!"
        from media_images
        where media_id = $1 and bytes is not null
        "#,
        image.media.as_uuid(),
        i32::try_from(from).unwrap_or(i32::MAX - 1),
        i32::try_from(SLICE).unwrap_or(i32::MAX),
    )
    .fetch_optional(pool)
    .await?;
    Ok(slice)
}

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

async fn verdicts(conn: &mut PgConnection, media: MediaId) -> Result<Vec<Verdict>, Error> {
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

async fn events_with_deliveries(
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
