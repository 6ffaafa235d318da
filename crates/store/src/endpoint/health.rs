//! The delivery health of endpoints, for all workers together: one row per endpoint, written only
//! while something is wrong with it.

mod probe;
mod reset;
mod update;

use chrono::{DateTime, Utc};
use domain::{breaker::Breaker, id::EndpointId, webhook::Health};
use queue::Lane;
use sqlx::PgConnection;

pub use self::probe::{Probe, take_probe};
pub(crate) use self::{
    reset::{forget, start_afresh},
    update::{Sign, learn},
};

fn lane(endpoint: EndpointId) -> Lane {
    Lane(endpoint.as_uuid())
}

/// Reads an endpoint's health, with the time, and keeps others from changing it until the
/// transaction ends.
async fn lock(
    conn: &mut PgConnection,
    endpoint: EndpointId,
) -> Result<(Health, DateTime<Utc>), sqlx::Error> {
    sqlx::query!(
        "insert into webhook_endpoint_states (endpoint_id) values ($1) on conflict (endpoint_id) do nothing",
        endpoint.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            failing_since, failures as "failures?", openings as "openings?", open_until, probe_until,
            clock_timestamp() as "at!"
        from webhook_endpoint_states
        where endpoint_id = $1
        for update
        "#,
        endpoint.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok((row.health(), row.at))
}

async fn write(
    conn: &mut PgConnection,
    endpoint: EndpointId,
    health: &Health,
) -> Result<(), sqlx::Error> {
    let stored = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    sqlx::query!(
        "
        update webhook_endpoint_states
        set failing_since = $2, failures = $3, openings = $4, open_until = $5, probe_until = $6
        where endpoint_id = $1
        ",
        endpoint.as_uuid(),
        health.failing_since,
        stored(health.breaker.failures),
        stored(health.breaker.openings),
        health.breaker.open_until,
        health.breaker.probe_until,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A row of `webhook_endpoint_states`, or the nulls of an endpoint that has none, and when it was
/// read.
pub(crate) struct Row {
    pub(crate) failing_since: Option<DateTime<Utc>>,
    pub(crate) failures: Option<i32>,
    pub(crate) openings: Option<i32>,
    pub(crate) open_until: Option<DateTime<Utc>>,
    pub(crate) probe_until: Option<DateTime<Utc>>,
    pub(crate) at: DateTime<Utc>,
}

impl Row {
    pub(crate) fn health(&self) -> Health {
        let count = |stored: Option<i32>| u32::try_from(stored.unwrap_or(0)).unwrap_or(0);
        Health {
            breaker: Breaker {
                failures: count(self.failures),
                openings: count(self.openings),
                open_until: self.open_until,
                probe_until: self.probe_until,
            },
            failing_since: self.failing_since,
        }
    }
}
