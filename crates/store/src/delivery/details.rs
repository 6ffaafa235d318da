//! One delivery: what is sent, and every attempt to send it.

use chrono::{DateTime, Utc};
use domain::{
    id::{DeliveryId, EndpointId, SiteId, TeamId},
    reach::Reach,
    webhook::CustomHeader,
};
use serde_json::value::RawValue;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use super::{list::Listed, load::Told};
use crate::{Error, encryption::MasterKey, endpoint, id_time::ids_within};

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

/// An attempt, and where it belongs.
#[derive(Clone, Debug)]
pub struct Latest {
    /// The endpoint.
    pub endpoint: EndpointId,
    /// The delivery.
    pub delivery: DeliveryId,
    /// The attempt.
    pub attempt: LoggedAttempt,
}

/// The latest attempts of each endpoint, at most `each`, the latest first. The last attempt of each
/// of some deliveries counts: of the newest ones, and, if the endpoint fails, of those with which
/// that began. The newest ones of a failing endpoint may all wait.
pub async fn latest(
    conn: &mut PgConnection,
    endpoints: &[(EndpointId, Option<DateTime<Utc>>)],
    each: i64,
) -> Result<Vec<Latest>, Error> {
    let ids: Vec<Uuid> = endpoints.iter().map(|(id, _)| id.as_uuid()).collect();
    let failing = endpoints.iter();
    let failing: Vec<Uuid> = failing
        .map(|(_, since)| since.map_or(Uuid::max(), |since| ids_within(Some(since), None).0))
        .collect();
    let rows = sqlx::query!(
        r#"
        select
            p.id as "endpoint!", a.delivery_id, a.number, a.started_at, a.duration_ms, a.outcome, a.status_code,
            a.response_body, a.url, a.error
        from unnest($1::uuid [], $2::uuid []) as p (id, failing)
        cross join lateral (
            select a.*
            from (
                (
                    select n.id
                    from (
                        select id, attempts from deliveries where endpoint_id = p.id order by id desc limit 200
                    ) n
                    where n.attempts > 0
                    order by n.id desc
                    limit 20
                )
                union
                (
                    select f.id
                    from (
                        select id, attempts
                        from deliveries
                        where endpoint_id = p.id and id >= p.failing
                        order by id
                        limit 1000
                    ) f
                    where f.attempts > 0
                    order by f.id desc
                    limit 20
                )
            ) d
            cross join lateral (
                select * from delivery_attempts where delivery_id = d.id order by number desc limit 1
            ) a
            order by a.started_at desc, a.delivery_id
            limit $3
        ) a
        order by p.id, a.started_at desc, a.delivery_id
        "#,
        &ids,
        &failing,
        each,
    )
    .fetch_all(conn)
    .await?;
    let latest = rows.into_iter().map(|row| Latest {
        endpoint: row.endpoint.into(),
        delivery: row.delivery_id.into(),
        attempt: LoggedAttempt {
            number: row.number,
            started_at: row.started_at,
            duration_ms: row.duration_ms,
            outcome: row.outcome,
            status_code: row.status_code,
            response_body: row.response_body,
            url: row.url,
            error: row.error,
        },
    });
    Ok(latest.collect())
}
