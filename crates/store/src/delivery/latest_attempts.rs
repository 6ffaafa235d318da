//! The latest attempts to send something to endpoints.

use chrono::{DateTime, Utc};
use domain::id::{DeliveryId, EndpointId};
use sqlx::PgConnection;
use uuid::Uuid;

use super::LoggedAttempt;
use crate::{Error, id_time::ids_within};

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
