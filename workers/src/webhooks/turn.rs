//! Whether it is a delivery's turn: its endpoint is not paused, takes one more request this second, and has been
//! told what goes before, and its team may open another connection. Whatever has to wait is charged no attempt.

use std::time::Duration;

use domain::{
    breaker::{Allowed, Right},
    webhook::{ATTEMPT_DEADLINE, LONGEST_HOLD},
};
use store::{
    Error, PgPool,
    delivery::ToDeliver,
    endpoint::{self, Probe},
};

use crate::outbound::{Outbound, Socket};

/// What a delivery may do.
pub(super) enum Turn {
    /// Be sent, through this.
    Now(Right, Socket),
    /// Come back in so long: something else goes before it.
    Held(Duration),
    /// Come back in so long, like all others to its endpoint.
    Later(Duration),
}

/// How long the one that probes an endpoint may take, with the record of what it found.
const PROBE_LEASE: Duration = ATTEMPT_DEADLINE.saturating_add(Duration::from_secs(5));

/// The shortest and the longest time between two looks whether what goes before has been told. In between a delivery has
/// waited as long as it waits next, so that few looks suffice and the wait at most doubles.
const SHORTEST_LOOK: Duration = Duration::from_millis(20);
const LONGEST_LOOK: Duration = Duration::from_secs(1);

pub(super) async fn turn(
    pool: &PgPool,
    outbound: &Outbound,
    delivery: &ToDeliver,
    is_held: bool,
) -> Result<Turn, Error> {
    let allowed = delivery.health.breaker.allows(delivery.at);
    match allowed {
        // Only while the endpoint is well: one that is probed gets whatever comes first.
        Allowed::Asking if is_held => return Ok(Turn::Held(next_look(delivery))),
        Allowed::Nothing(until) => {
            let wait = (until - delivery.at).to_std().unwrap_or_default();
            return Ok(Turn::Later(wait));
        }
        Allowed::Asking | Allowed::Probing => {}
    }
    // Before all that others wait for: this may take some seconds.
    let Ok(socket) = outbound.socket(delivery.team).await else {
        return Ok(Turn::Later(soon()));
    };
    // Before the probe: its holder must send at once, or it would keep the others out for nothing.
    if let Some(max) = delivery.max_per_second
        && let Some(wait) = endpoint::permit(pool, delivery.endpoint, max).await?
    {
        return Ok(Turn::Later(wait));
    }
    if allowed != Allowed::Probing {
        return Ok(Turn::Now(Right::Everybody, socket));
    }
    Ok(
        match endpoint::take_probe(pool, delivery.endpoint, PROBE_LEASE).await? {
            Probe::Mine(right) => Turn::Now(right, socket),
            Probe::Later(wait) => Turn::Later(wait),
        },
    )
}

/// When a delivery comes again for which there was no connection. Not all at once.
pub(super) fn soon() -> Duration {
    Duration::from_secs_f64(1.0 + 4.0 * rand::random::<f64>())
}

fn next_look(delivery: &ToDeliver) -> Duration {
    let age = (delivery.at - delivery.occurred_at)
        .to_std()
        .unwrap_or_default();
    let rest = LONGEST_HOLD.saturating_sub(age);
    age.clamp(SHORTEST_LOOK, LONGEST_LOOK).min(rest)
}
