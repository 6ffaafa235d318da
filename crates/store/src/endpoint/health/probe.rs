//! The one request that tests an endpoint after its breaker was open.

use std::time::Duration;

use domain::{
    breaker::{Allowed, Right},
    id::EndpointId,
};
use queue::lanes;
use sqlx::{Connection as _, PgPool};

use super::{lane, lock, write};
use crate::{Error, jobs};

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
