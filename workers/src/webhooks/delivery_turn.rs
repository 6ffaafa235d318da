//! Whether it is a delivery's turn. Its endpoint must not be paused, must take another request this
//! second, and must have received what goes before. Its team must be able to open another
//! connection. Waiting is not charged as an attempt.

use std::time::Duration;

use domain::{
    breaker::{Allowed, Right},
    webhook::{ATTEMPT_DEADLINE, LONGEST_HOLD},
};
use queue::Waits;
use store::{
    Error, PgPool,
    delivery::ToDeliver,
    endpoint::{self, Probe},
};

use crate::outbound::{Outbound, Socket};

/// What a delivery may do.
pub(super) enum Turn {
    /// Send it through this socket.
    Now(Right, Socket),
    /// Try again after this time: something else goes before it.
    Held(Duration),
    /// Try again after this time, like all other deliveries to its endpoint.
    Later(Duration),
}

/// How long a probe of an endpoint may take, including the record of its result.
const PROBE_LEASE: Duration = ATTEMPT_DEADLINE.saturating_add(Duration::from_secs(5));

/// The shortest and the longest time between two checks whether the earlier event was delivered.
/// Between these limits, a delivery waits as long again as it has waited, so few checks are needed
/// and the wait at most doubles.
const SHORTEST_LOOK: Duration = Duration::from_millis(20);
const LONGEST_LOOK: Duration = Duration::from_secs(1);

pub(super) async fn turn(
    pool: &PgPool,
    outbound: &Outbound,
    paced: &Waits,
    delivery: &ToDeliver,
    is_held: bool,
) -> Result<Turn, Error> {
    let allowed = delivery.health.breaker.allows(delivery.at);
    match allowed {
        // Only while the endpoint works. A probe sends whatever comes first.
        Allowed::Asking if is_held => return Ok(Turn::Held(next_look(delivery))),
        Allowed::Nothing(until) => {
            let wait = (until - delivery.at).to_std().unwrap_or_default();
            return Ok(Turn::Later(wait));
        }
        Allowed::Asking | Allowed::Probing => {}
    }
    // Before everything that others wait for, because this may take some seconds.
    let Ok(socket) = outbound.socket(delivery.team).await else {
        return Ok(Turn::Later(soon()));
    };
    // Before the probe, because its holder must send at once. Otherwise it would block others for
    // nothing.
    if let Some(max) = delivery.max_per_second
        && let Some(wait) = endpoint::permit(pool, delivery.endpoint, max).await?
    {
        paced.note(wait);
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

/// When a delivery without a connection is tried again: after a random delay, so that not all come
/// back at once.
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
