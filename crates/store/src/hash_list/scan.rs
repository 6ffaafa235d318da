//! Scans: a list is compared with stored pictures, slice by slice ([`slice`]), by jobs of a queue
//! of its own. The findings of a slice are stored in the transaction that finishes its job, so
//! nothing is lost or counted twice. No verdict changes.

mod create;
mod findings;
mod read;
pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    chain::State,
    id::{ActorId, HashListId, HashScanId, TeamId},
};
use queue::QueueName;
use serde::Serialize;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub use self::{
    create::{NewScan, create},
    findings::{Match, matches},
    read::{find, list},
};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, HashScanJob},
};

/// The most matches of a scan that are listed.
pub const LISTED: i64 = 100_000;

/// A scan, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Scan {
    /// The scan.
    pub id: HashScanId,
    /// The list.
    #[serde(rename = "hash_list_id")]
    pub list: HashListId,
    /// The team whose items it looks at; none: those of all teams.
    #[serde(rename = "team_id")]
    pub team: Option<TeamId>,
    /// Only entries with a newer revision of the list; none: all.
    pub since_revision: Option<i64>,
    /// It looks at items accepted before this time, the newest first.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub until: DateTime<Utc>,
    /// When the oldest of them was accepted; none: there is none.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub oldest: Option<DateTime<Utc>>,
    /// It has looked at all items accepted after this time; none: at none yet.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub reached: Option<DateTime<Utc>>,
    /// Its state.
    pub state: State,
    /// How many hashed images it has looked at.
    pub looked_at: i64,
    /// How many of them are on the list.
    pub matched: i64,
    /// Why it failed.
    pub error: Option<String>,
    /// Who started it.
    pub created_by: Option<ActorId>,
    /// When it was started.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

impl Chain for Scan {
    const TABLE: &'static str = "hash_scans";
    const QUEUE: QueueName = jobs::HASH_SCANS;
    type Place = Option<Uuid>;
    type Job = HashScanJob;

    fn row(job: &HashScanJob) -> Uuid {
        job.scan.as_uuid()
    }
}

/// Stops a scan. False: it has ended already. Its findings stay. Those of a running slice are
/// dropped.
pub async fn cancel(conn: &mut PgConnection, scan: HashScanId) -> Result<bool, Error> {
    Ok(chain::cancel::<Scan>(conn, scan.as_uuid()).await?)
}

/// Stops all scans for a list.
pub(super) async fn cancel_all(conn: &mut PgConnection, list: HashListId) -> Result<(), Error> {
    sqlx::query!(
        "
        update hash_scans
        set state = 'cancelled', ended_at = clock_timestamp()
        where list_id = $1 and state = 'running'
        ",
        list.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Forgets scans that ended long ago, and says how many.
pub(super) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(chain::forget_old::<Scan>(pool).await?)
}
