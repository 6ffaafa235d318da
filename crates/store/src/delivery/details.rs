//! One delivery: what is sent, and every attempt to send it.

use chrono::{DateTime, Utc};
use domain::{
    id::{DeliveryId, EndpointId, SiteId, TeamId},
    reach::Reach,
    webhook::CustomHeader,
};
use serde_json::value::RawValue;
use sqlx::{PgConnection, types::Json};

use super::{body::Told, list::Listed};
use crate::{Error, encryption::MasterKey, endpoint};

/// A delivery with its attempts.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// What lists show of it.
    pub listed: Listed,
    /// The site of its endpoint.
    pub site: SiteId,
    /// The site's team.
    pub team: TeamId,
    /// The raw body of every attempt.
    pub body: Vec<u8>,
    /// What the endpoint's owner wants on every request now.
    pub headers: Vec<CustomHeader>,
    /// The last attempts, the last one first.
    pub attempts: Vec<LoggedAttempt>,
}

/// An attempt as it was logged.
#[derive(Clone, Debug)]
pub struct LoggedAttempt {
    /// Its number; a delivery's attempts count from 1.
    pub number: i16,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// How long it took, in milliseconds.
    pub duration_ms: i32,
    /// How it ended, in one word.
    pub outcome: String,
    /// The answer's status; none if there was no answer.
    pub status_code: Option<i16>,
    /// The first 2 KiB of the answer to a failed attempt; none of a success, of an older attempt,
    /// or if there was no answer.
    pub response_body: Option<Vec<u8>>,
    /// Where it went; none if that was not recorded at the time.
    pub url: Option<String>,
    /// Why there was no answer; none if there was one.
    pub error: Option<String>,
}

/// The most attempts of a delivery that are shown.
const SHOWN: i64 = 50;

/// A delivery; none if there is none within reach.
pub async fn find(
    conn: &mut PgConnection,
    key: &MasterKey,
    reach: Reach,
    delivery: DeliveryId,
) -> Result<Option<Delivery>, Error> {
    let row = sqlx::query!(
        r#"
        select
            d.event_id, d.endpoint_id, d.state, d.attempts, d.next_attempt_at, d.ended_at,
            e.kind, e.occurred_at, e.media_id,
            p.site_id, s.team_id, p.headers,
            m.app_media_id, m.content_type, m.created_at, m.metadata as "metadata: Json<Box<RawValue>>",
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
        where d.id = $1 and ($2::uuid is null or s.team_id = $2)
        "#,
        delivery.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let kind = row.kind.parse()?;
    let told = Told {
        kind,
        occurred_at: row.occurred_at,
        media_id: row.media_id,
        app_media_id: row.app_media_id,
        site_id: row.site_id,
        content_type: row.content_type,
        created_at: row.created_at,
        metadata: row.metadata,
        status: row.status,
        previous_status: row.previous_status,
        moderation_type: row.moderation_type,
        moderated_at: row.moderated_at,
        details: row.details,
    };
    let endpoint = EndpointId::from(row.endpoint_id);
    let headers = match &row.headers {
        Some(sealed) => endpoint::open_headers(key, endpoint, sealed)?,
        None => Vec::new(),
    };
    Ok(Some(Delivery {
        listed: Listed {
            id: delivery,
            event: row.event_id.into(),
            kind,
            occurred_at: row.occurred_at,
            media: row.media_id.into(),
            endpoint,
            status: row.state.parse()?,
            attempts: row.attempts,
            next_attempt_at: row.next_attempt_at,
            ended_at: row.ended_at,
        },
        site: row.site_id.into(),
        team: row.team_id.into(),
        body: told.to_body()?,
        headers,
        attempts: attempts(conn, delivery).await?,
    }))
}

async fn attempts(
    conn: &mut PgConnection,
    delivery: DeliveryId,
) -> Result<Vec<LoggedAttempt>, Error> {
    let attempts = sqlx::query_as!(
        LoggedAttempt,
        "
        select number, started_at, duration_ms, outcome, status_code, response_body, url, error
        from delivery_attempts
        where delivery_id = $1
        order by number desc
        limit $2
        ",
        delivery.as_uuid(),
        SHOWN,
    )
    .fetch_all(conn)
    .await?;
    Ok(attempts)
}
