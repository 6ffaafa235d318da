//! A slice of a recovery: what a job looks at, and the effect of having looked at it.

mod next_deliveries;
mod send;
mod status;

use std::time::Duration;

use domain::{
    id::{DeliveryId, EndpointId, EventId, RecoveryId, TeamId},
    recovery::RecoveryKind,
};
use queue::{Group, Lane, lanes};
use sqlx::PgPool;
use uuid::Uuid;

use self::{
    next_deliveries::{Walked, walk_delivered, walk_events, walk_failed},
    status::standing,
};
use crate::{Error, chain::End, jobs};

/// Deliveries or events of a slice: some milliseconds' work in all.
pub const SLICE: i64 = 500;

/// While an endpoint has so many due jobs, nothing is added to them: about 5,000 deliveries in
/// pages.
pub const ENOUGH: i64 = 160;

/// The pause before looking again.
const PAUSE: Duration = Duration::from_secs(1);

/// What a job must do.
#[derive(Debug)]
pub enum Next {
    /// Nothing: the recovery has ended.
    Nothing,
    /// Come back after this time: enough jobs wait for the endpoint, or the events are still being
    /// written.
    Later(Duration),
    /// This.
    Slice(Slice),
}

/// The next slice, and with it the effect of having sent what is in it.
#[derive(Debug)]
pub struct Slice {
    recovery: RecoveryId,
    endpoint: EndpointId,
    team: TeamId,
    kind: RecoveryKind,
    /// Where it begins: after this delivery or event,
    from: Option<Uuid>,
    /// and where it ends: with this one.
    to: Option<Uuid>,
    looked_at: i64,
    /// What to send, in the order of ids.
    wanted: Vec<Wanted>,
    end: End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    delivery: DeliveryId,
    event: EventId,
}

/// Loads the next slice.
pub async fn next(pool: &PgPool, recovery: RecoveryId) -> Result<Next, Error> {
    let Some(standing) = standing(pool, recovery).await? else {
        return Ok(Next::Nothing);
    };
    let slice = |walked: &[Walked], end| Slice {
        recovery,
        endpoint: standing.endpoint,
        team: standing.team,
        kind: standing.kind,
        from: standing.walked_to,
        to: walked.last().map(|last| last.id).or(standing.walked_to),
        looked_at: i64::try_from(walked.len()).unwrap_or(i64::MAX),
        wanted: walked
            .iter()
            .filter(|walked| walked.is_wanted)
            .map(|walked| walked.wanted(&standing))
            .collect(),
        end,
    };
    if let Some(reason) = standing.obstacle {
        return Ok(Next::Slice(slice(&[], End::Failed(reason))));
    }
    let group = Group(standing.team.as_uuid());
    let lane = Lane(standing.endpoint.as_uuid());
    let mut conn = pool.acquire().await?;
    if !standing.is_settled
        || lanes::due(&mut conn, jobs::WEBHOOKS, group, lane, ENOUGH).await? >= ENOUGH
    {
        return Ok(Next::Later(PAUSE));
    }
    let walked = match standing.kind {
        RecoveryKind::Failed => walk_failed(&mut conn, &standing).await?,
        RecoveryKind::Delivered => walk_delivered(&mut conn, &standing).await?,
        RecoveryKind::Missing => walk_events(&mut conn, &standing).await?,
    };
    let is_last = i64::try_from(walked.len()).unwrap_or(i64::MAX) < SLICE;
    let end = if is_last { End::Finished } else { End::Open };
    Ok(Next::Slice(slice(&walked, end)))
}
