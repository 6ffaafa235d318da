//! Recoveries: an endpoint gets what it has missed or lost, slice by slice ([`slice`]), by jobs of
//! a queue of its own. The deliveries of a slice become pending in the transaction that finishes
//! its job, so a recovery omits nothing and sends nothing twice. A delivery that still arrives
//! twice has the same id both times.

mod create;
mod read;
pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    chain::State,
    event::{EventKind, iso8601, iso8601_or_null},
    id::{ActorId, EndpointId, RecoveryId, SiteId, TeamId},
    recovery::RecoveryKind,
};
use queue::QueueName;
use serde::Serialize;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub use self::{
    create::{NewRecovery, Target, create, target},
    read::{find, list},
};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, RecoveryJob},
};

/// A recovery, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Recovery {
    /// The recovery.
    pub id: RecoveryId,
    /// The endpoint.
    #[serde(rename = "endpoint_id")]
    pub endpoint: EndpointId,
    /// Its site.
    #[serde(rename = "site_id")]
    pub site: SiteId,
    /// Its team.
    #[serde(skip)]
    pub team: TeamId,
    /// Which events.
    pub kind: RecoveryKind,
    /// Only events of this kind.
    pub event: Option<EventKind>,
    /// Only events that happened at this time or later, the oldest first,
    #[serde(serialize_with = "iso8601")]
    pub since: DateTime<Utc>,
    /// and before this time.
    #[serde(serialize_with = "iso8601")]
    pub until: DateTime<Utc>,
    /// All events before this time are done; none: no event yet.
    #[serde(serialize_with = "iso8601_or_null")]
    pub reached: Option<DateTime<Utc>>,
    /// Its status.
    pub state: State,
    /// How many deliveries, or events where deliveries are missing, it has looked at.
    pub looked_at: i64,
    /// How many of them it has sent again.
    pub resent: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// Who started it; none for the command line.
    pub created_by: Option<ActorId>,
    /// When it was started.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Recovery {
    const TABLE: &'static str = "webhook_recoveries";
    const QUEUE: QueueName = jobs::RECOVERIES;
    type Place = Option<Uuid>;
    type Job = RecoveryJob;

    fn row(job: &RecoveryJob) -> Uuid {
        job.recovery.as_uuid()
    }
}

/// Stops a recovery. False: it has ended already. Deliveries that it has sent go on. A running
/// slice is dropped.
pub async fn cancel(conn: &mut PgConnection, recovery: RecoveryId) -> Result<bool, Error> {
    Ok(chain::cancel::<Recovery>(conn, recovery.as_uuid()).await?)
}

/// Forgets recoveries that ended long ago, and says how many.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(chain::forget_old::<Recovery>(pool).await?)
}
