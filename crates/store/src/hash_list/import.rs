//! Imports: a file of hashes is stored in chunks of whole lines and read chunk by chunk
//! ([`slice`]), by jobs of a queue of its own. The entries of a chunk are stored in the transaction
//! that finishes its job, so no line is lost or counted twice.

mod chunks;
mod create;
mod read;
mod refused_lines;
pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    chain::State,
    id::{ActorId, HashImportId, HashListId, TeamId},
    image_hash::HashAlgorithm,
};
use queue::QueueName;
use serde::Serialize;
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub use self::{
    create::{MAX_RUNNING, create},
    read::{find, list},
    refused_lines::{LISTED, Refused, refusals},
};
use crate::{
    Error,
    chain::{self, Chain},
    jobs::{self, HashImportJob},
};

/// A file of hashes, and how far it is read. The audit log shows it as the management interface
/// does.
#[derive(Clone, Debug, Serialize)]
pub struct Import {
    /// The import.
    pub id: HashImportId,
    /// The list that it fills.
    #[serde(rename = "hash_list_id")]
    pub list: HashListId,
    /// The list's team.
    #[serde(skip)]
    pub team: Option<TeamId>,
    /// The kind of hashes whose lines do not name it.
    pub algorithm: HashAlgorithm,
    /// Its state.
    pub state: State,
    /// How many lines the file has.
    pub total_lines: i64,
    /// How many of them were read.
    pub lines: i64,
    /// Hashes that were added.
    pub added: i64,
    /// Hashes that were on the list already, or in an earlier line.
    pub existing: i64,
    /// Lines that were refused.
    pub refused: i64,
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

impl Chain for Import {
    const TABLE: &'static str = "hash_imports";
    const QUEUE: QueueName = jobs::HASH_IMPORTS;
    const PLACE: &'static str = "next_chunk";
    type Place = i32;
    type Job = HashImportJob;

    fn row(job: &HashImportJob) -> Uuid {
        job.import.as_uuid()
    }

    async fn ended(conn: &mut PgConnection, row: Uuid) -> Result<(), sqlx::Error> {
        drop_chunks(conn, row.into()).await
    }
}

/// Stops an import. False: it has ended already. Entries that were added stay on the list. The
/// chunk that is being read is dropped.
pub async fn cancel(conn: &mut PgConnection, import: HashImportId) -> Result<bool, Error> {
    Ok(chain::cancel::<Import>(conn, import.as_uuid()).await?)
}

/// Stops all imports into a list.
pub(super) async fn cancel_all(conn: &mut PgConnection, list: HashListId) -> Result<(), Error> {
    let cancelled = sqlx::query_scalar!(
        "
        update hash_imports
        set state = 'cancelled', ended_at = clock_timestamp()
        where list_id = $1 and state = 'running'
        returning id
        ",
        list.as_uuid(),
    )
    .fetch_all(&mut *conn)
    .await?;
    for import in cancelled {
        drop_chunks(conn, import.into()).await?;
    }
    Ok(())
}

async fn drop_chunks(conn: &mut PgConnection, import: HashImportId) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from hash_import_chunks where import_id = $1",
        import.as_uuid()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Forgets imports that ended long ago, and says how many.
pub(super) async fn forget_old(pool: &PgPool) -> Result<u64, Error> {
    Ok(chain::forget_old::<Import>(pool).await?)
}
