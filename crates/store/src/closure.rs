//! Closures: a site, or a team with all its sites, is disabled at once, and each site gets an export.
//! During a grace, the closure can be cancelled ([`cancel`]). Then each site is erased, and what is its
//! own is removed ([`slice`]), by jobs of a queue of their own.
//!
//! `closure_id` of a site says that it is disabled: it accepts no submissions, and cannot be changed.
//! From the end of the grace on it has `closed_at`, and cannot be opened again. Both stay.

mod cancel;
mod create;
mod lock;
mod read;
pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    closure::{ClosureState, WaitsFor},
    event::{iso8601, iso8601_or_null},
    id::{ActorId, ClosureId, ErasureId, ExportId, SiteId, TeamId},
};
use queue::QueueName;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use uuid::Uuid;

pub use self::{
    cancel::{cancel, resume},
    create::{NewClosure, NotCreated, create},
    lock::{Closing, of_site, of_team},
    read::{find, list},
};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, ClosureJob},
};

/// A closure, and how far it has got. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Closure {
    /// The closure.
    pub id: ClosureId,
    /// Its team.
    #[serde(rename = "team_id")]
    pub team: TeamId,
    /// The site that it closes; none: the team with all its sites.
    #[serde(rename = "site_id")]
    pub site: Option<SiteId>,
    /// The name of the site or the team. A site that has been erased is called `closed` and its id.
    pub name: String,
    /// How far it is.
    pub state: ClosureState,
    /// When the grace ends.
    #[serde(serialize_with = "iso8601")]
    pub erase_at: DateTime<Utc>,
    /// What it waits for, beside the end of the grace and its own erasures.
    pub waits_for: Option<WaitsFor>,
    /// The sites that it closes, at most [`SITES`]; none if it was cancelled.
    pub sites: Vec<ClosedSite>,
    /// Why it failed.
    pub error: Option<String>,
    /// Who asked for it; none for the command line.
    pub created_by: Option<ActorId>,
    /// When it was asked for.
    #[serde(serialize_with = "iso8601")]
    pub created_at: DateTime<Utc>,
    /// When it ended; none while it runs.
    #[serde(serialize_with = "iso8601_or_null")]
    pub ended_at: Option<DateTime<Utc>>,
}

/// How many sites of a closure are shown.
pub const SITES: i64 = 1_000;

/// A site that a closure closes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClosedSite {
    /// The site.
    #[serde(rename = "site_id")]
    pub site: SiteId,
    /// Its name. A site that has been erased is called `closed` and its id.
    pub name: String,
    /// Its export, which can be read until the grace ends.
    #[serde(rename = "export_id")]
    pub export: ExportId,
    /// Its erasure; none before it began.
    #[serde(rename = "erasure_id")]
    pub erasure: Option<ErasureId>,
}

impl Chain for Closure {
    const TABLE: &'static str = "closures";
    const QUEUE: QueueName = jobs::CLOSURES;
    /// How many steps were done.
    type Place = i64;
    type Job = ClosureJob;

    fn row(job: &ClosureJob) -> Uuid {
        job.closure.as_uuid()
    }
}

/// Forgets closures that ended long ago, and says how many. One that failed is not forgotten: it is
/// to be resumed.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let forgotten = sqlx::query!(
        "
        delete from closures
        where state in ('finished', 'cancelled') and ended_at <= now() - $1 * interval '1 second'
        ",
        chain::KEPT.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}
