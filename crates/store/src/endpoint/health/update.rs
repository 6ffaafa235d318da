//! What attempts say about their endpoints.

use std::collections::BTreeSet;

use domain::{
    breaker::{Breaker, Right},
    id::EndpointId,
};
use queue::lanes;
use sqlx::PgConnection;
use tracing::info;

use super::{lane, lock, write};
use crate::{endpoint::disable, jobs};

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
