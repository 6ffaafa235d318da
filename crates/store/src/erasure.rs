//! Erasures: everything that is stored about some items is removed, slice by slice ([`slice`]), by
//! jobs of a queue of its own. What is left of an item is a tombstone: its ids, times and verdict. An
//! item without a verdict goes altogether.
//!
//! An erasure has three phases. First each slice of items is emptied. Work on these items that is on
//! its way finds nothing from then on, and what it brings is dropped. But a transaction that had begun
//! before may still add something. So the second phase begins when all of these have ended, and removes
//! everything again, this time with the events. At the end, a certificate is signed
//! ([`certificate`]).

pub mod certificate;
mod create;
mod key;
mod read;
pub mod search;
pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    chain::State,
    erasure::{Counts, SubjectKind},
    event::{iso8601, iso8601_or_null},
    id::{ActorId, ErasureId, SiteId, TeamId},
};
use queue::QueueName;
use serde::Serialize;
use sqlx::PgPool;
use uuid::Uuid;

pub(crate) use self::{create::insert, key::anew as key_anew};
pub use self::{
    create::{NewErasure, create, resume},
    key::{PublicKey, made_public_key, public_key},
    read::{find, list},
};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, ErasureJob},
};

/// An erasure, and how far it has got. The audit log shows it as the management interface does, but
/// without its certificate. It does not tell which items it is about, because that may name a person.
#[derive(Clone, Debug, Serialize)]
pub struct Erasure {
    /// The erasure.
    pub id: ErasureId,
    /// Its team.
    #[serde(skip)]
    pub team: TeamId,
    /// The site whose items they are; none: of all sites of the team.
    #[serde(rename = "site_id")]
    pub site: Option<SiteId>,
    /// How the items were chosen.
    pub kind: SubjectKind,
    /// How far it is.
    pub state: State,
    /// What was removed so far.
    pub counts: Counts,
    /// The certificate, a JSON web signature in its compact form; none before the end.
    #[serde(skip)]
    pub certificate: Option<String>,
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

impl Chain for Erasure {
    const TABLE: &'static str = "erasures";
    const QUEUE: QueueName = jobs::ERASURES;
    /// How many slices were done.
    type Place = i64;
    type Job = ErasureJob;

    fn row(job: &ErasureJob) -> Uuid {
        job.erasure.as_uuid()
    }
}

/// Forgets erasures that ended long ago, with their certificates, and says how many. One that failed
/// is not forgotten: it is to be resumed.
pub async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    let forgotten = sqlx::query!(
        "delete from erasures where state = 'finished' and ended_at <= now() - $1 * interval '1 second'",
        chain::KEPT.as_secs_f64(),
    )
    .execute(pool)
    .await?;
    Ok(forgotten.rows_affected())
}
