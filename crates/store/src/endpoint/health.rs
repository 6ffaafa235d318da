//! The delivery health of endpoints, for all workers together: one row per endpoint, written only
//! while something is wrong with it.

use std::{collections::BTreeSet, time::Duration};

use chrono::{DateTime, Utc};
use domain::{
    breaker::{Allowed, Breaker, Right},
    id::EndpointId,
    webhook::Health,
};
use queue::{Lane, lanes};
use sqlx::{Connection as _, PgConnection, PgPool};
use tracing::info;

use crate::{Error, endpoint::disable, jobs};

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

/// Whether the caller may send the one request that tests an endpoint after its breaker's time is
/// over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    /// It may send now, with this right.
    Mine(Right),
    /// Another worker is testing it, or the breaker opened again: come back after this time.
    Later(Duration),
}

/// Asks for the right to probe an endpoint. Until the probe ends, or `lease` is over, no other
/// deliveries to it are claimed.
pub async fn take_probe(
    pool: &PgPool,
    endpoint: EndpointId,
    lease: Duration,
) -> Result<Probe, Error> {
    let mut conn = pool.acquire().await?;
    let mut tx = conn.begin().await?;
    let (mut health, now) = lock(&mut tx, endpoint).await?;
    let probe = match health.breaker.probe(now, lease) {
        Some(right) => {
            write(&mut tx, endpoint, &health).await?;
            lanes::pause_until(&mut tx, jobs::WEBHOOKS, lane(endpoint), now + lease).await?;
            Probe::Mine(right)
        }
        None => match health.breaker.allows(now) {
            Allowed::Nothing(until) => Probe::Later((until - now).to_std().unwrap_or_default()),
            Allowed::Asking | Allowed::Probing => Probe::Mine(Right::Everybody),
        },
    };
    tx.commit().await?;
    Ok(probe)
}

/// What an attempt says of its endpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sign {
    pub(crate) endpoint: EndpointId,
    pub(crate) right: Right,
    pub(crate) succeeded: bool,
}

/// The reason that an owner reads when an endpoint was disabled because it is dead.
const DEAD: &str = "no delivery succeeded for five days";

/// Updates the health of endpoints from their attempts. A breaker that opens pauses its endpoint's
/// lane, so that waiting jobs are not claimed. A dead endpoint is disabled.
pub(crate) async fn learn(conn: &mut PgConnection, signs: &[Sign]) -> Result<(), sqlx::Error> {
    // All processes use the same order, so that none waits in a circle.
    let endpoints: BTreeSet<EndpointId> = signs.iter().map(|sign| sign.endpoint).collect();
    let mut dead = Vec::new();
    for endpoint in endpoints {
        let (before, now) = lock(conn, endpoint).await?;
        let mut health = before;
        for sign in signs.iter().filter(|sign| sign.endpoint == endpoint) {
            if sign.succeeded {
                health.succeeded(sign.right);
            } else {
                health.failed(sign.right, now, rand::random());
            }
        }
        if health == before {
            continue;
        }
        write(conn, endpoint, &health).await?;
        steer(conn, endpoint, &before.breaker, &health.breaker).await?;
        if health.is_dead(now) {
            dead.push((endpoint, DEAD));
        }
    }
    disable(conn, &dead).await
}

/// Pauses the lane of an endpoint whose breaker opened, and ends the pause when it closed.
async fn steer(
    conn: &mut PgConnection,
    endpoint: EndpointId,
    before: &Breaker,
    after: &Breaker,
) -> Result<(), sqlx::Error> {
    let lane = lane(endpoint);
    match (before.open_until, after.open_until) {
        (before, Some(until)) if before != Some(until) => {
            info!(endpoint.id = %endpoint, %until, "an endpoint keeps failing and is paused");
            lanes::pause_until(conn, jobs::WEBHOOKS, lane, until).await
        }
        (Some(_), None) => {
            info!(endpoint.id = %endpoint, "an endpoint works again");
            // The pause of the probe's lease.
            match before.probe_until {
                Some(lease) => lanes::resume_before(conn, jobs::WEBHOOKS, lane, lease).await,
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Forgets an endpoint's health, because its owner changed the endpoint. The pause that its health
/// caused ends too. A longer pause with another cause stays.
pub(crate) async fn forget(conn: &mut PgConnection, endpoint: EndpointId) -> Result<(), Error> {
    let known = sqlx::query!(
        r#"
        delete from webhook_endpoint_states
        where endpoint_id = $1
        returning greatest(open_until, probe_until, second + interval '1 second') as paused_until
        "#,
        endpoint.as_uuid()
    )
    .fetch_optional(&mut *conn)
    .await?;
    if let Some(until) = known.and_then(|known| known.paused_until) {
        lanes::resume_before(conn, jobs::WEBHOOKS, lane(endpoint), until).await?;
    }
    Ok(())
}

/// How many waiting deliveries become due at once. With more, others would wait for their locks.
const HASTENED: u32 = 10_000;

/// Treats an endpoint as new: its health is forgotten, and deliveries that wait for their next
/// attempt are due now. Returns how many deliveries that are. Wake the queue after the commit.
pub(crate) async fn start_afresh(
    conn: &mut PgConnection,
    endpoint: EndpointId,
) -> Result<u64, Error> {
    forget(conn, endpoint).await?;
    let hastened = lanes::hasten(conn, jobs::WEBHOOKS, lane(endpoint), HASTENED).await?;
    if hastened == 0 {
        // A repeated call reads no deliveries.
        return Ok(0);
    }
    // Locked deliveries are being sent. Their worker sets their next time.
    sqlx::query!(
        "
        update deliveries
        set next_attempt_at = now()
        where id in (
            select id
            from deliveries
            where
                state = 'pending' and next_attempt_at > now()
                and id in (select id from deliveries where endpoint_id = $1 order by id desc limit $2)
            for update skip locked
        )
        ",
        endpoint.as_uuid(),
        i64::from(HASTENED),
    )
    .execute(conn)
    .await?;
    Ok(hastened)
}
