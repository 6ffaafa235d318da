//! Imports: a file of hashes is stored in chunks of whole lines and read chunk by chunk
//! ([`slice`]), by jobs of a queue of its own. The entries of a chunk are stored in the transaction
//! that finishes its job, so no line is lost or counted twice.

pub mod slice;

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    chain::State,
    id::{ActorId, HashImportId, HashListId, TeamId},
    image_hash::HashAlgorithm,
    reach::Reach,
};
use queue::{NewJobs, QueueName};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    Error,
    chain::{self, Chain},
    hash_list::HashList,
    jobs::{self, HashImportJob},
    page::Page,
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

/// A line that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its number, from 1.
    pub line: i64,
    /// What is wrong with it.
    pub reason: String,
}

/// Refused lines after this one, in the order of the file.
pub async fn refusals(
    conn: &mut PgConnection,
    import: HashImportId,
    after: i64,
    limit: i64,
) -> Result<Vec<Refused>, Error> {
    let rows = sqlx::query_as!(
        Refused,
        "
        select line, reason
        from hash_import_refusals
        where import_id = $1 and line > $2
        order by line
        limit $3
        ",
        import.as_uuid(),
        after,
        limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// The most refused lines of a file that are listed.
pub const LISTED: i64 = 1_000;

/// The most files of a team, and the most of shared lists, that are being read.
pub const MAX_RUNNING: i64 = 16;

/// Stores a file with its first job. Tell the queue of the job after the commit. None:
/// [`MAX_RUNNING`] files are being read already. Run it in a transaction that has locked the list.
pub async fn create(
    conn: &mut PgConnection,
    list: &HashList,
    algorithm: HashAlgorithm,
    file: &[u8],
    by: Actor,
) -> Result<Option<(HashImportId, NewJobs)>, Error> {
    let id = HashImportId::from(Uuid::now_v7());
    let chunks = chunks(file);
    let total: usize = chunks.iter().map(|chunk| chunk.lines).sum();
    let created = sqlx::query!(
        "
        insert into hash_imports (id, list_id, team_id, algorithm, total_lines, chunks, created_by)
        select $1, $2, $3, $4, $5, $6, $7
        where (
            select count(*) from hash_imports where team_id is not distinct from $3 and state = 'running'
        ) < $8
        ",
        id.as_uuid(),
        list.id.as_uuid(),
        list.team.map(TeamId::as_uuid),
        algorithm.as_str(),
        i64::try_from(total).unwrap_or(i64::MAX),
        i32::try_from(chunks.len()).unwrap_or(i32::MAX),
        by.as_uuid(),
        MAX_RUNNING,
    )
    .execute(&mut *conn)
    .await?;
    if created.rows_affected() == 0 {
        return Ok(None);
    }
    let mut first_line = 1;
    for (number, chunk) in (0..).zip(chunks) {
        insert_chunk(conn, id, number, first_line, chunk.bytes).await?;
        first_line += i64::try_from(chunk.lines).unwrap_or(0);
    }
    let jobs = chain::begin(conn, jobs::import(id, list.id, list.team)).await?;
    Ok(Some((id, jobs)))
}

async fn insert_chunk(
    conn: &mut PgConnection,
    import: HashImportId,
    number: i32,
    first_line: i64,
    bytes: &[u8],
) -> Result<(), Error> {
    sqlx::query!(
        "insert into hash_import_chunks (import_id, number, first_line, bytes) values ($1, $2, $3, $4)",
        import.as_uuid(),
        number,
        first_line,
        bytes,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The imports that meet a condition.
macro_rules! select {
    ($conn:expr, $condition:literal, $($value:expr),+) => {
        sqlx::query!(
            "
        select
            id, list_id, team_id, algorithm, state, total_lines, lines, added, existing, refused, created_by, created_at,
            ended_at, error
        from hash_imports
        where "
                + $condition
                + "
        ",
            $($value),+
        )
        .fetch_all($conn)
        .await?
        .into_iter()
        .map(|row| {
            Ok(Import {
                id: row.id.into(),
                list: row.list_id.into(),
                team: row.team_id.map(TeamId::from),
                algorithm: row.algorithm.parse()?,
                state: row.state.parse()?,
                total_lines: row.total_lines,
                lines: row.lines,
                added: row.added,
                existing: row.existing,
                refused: row.refused,
                error: row.error,
                created_by: row.created_by.map(ActorId::from),
                created_at: row.created_at,
                ended_at: row.ended_at,
            })
        })
        .collect::<Result<Vec<_>, Error>>()
    };
}

/// An import; none if there is none into a list within reach. Shared lists are within the reach of
/// operators only.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    import: HashImportId,
) -> Result<Option<Import>, Error> {
    let found = select!(
        conn,
        "id = $1 and ($2::uuid is null or team_id = $2)",
        import.as_uuid(),
        reach.team().map(TeamId::as_uuid)
    );
    Ok(found?.pop())
}

/// A list's imports, the latest first.
pub async fn list(
    conn: &mut PgConnection,
    list: HashListId,
    page: Page,
) -> Result<Vec<Import>, Error> {
    select!(
        conn,
        "list_id = $1 and ($2::uuid is null or id < $2)
        order by id desc
        limit $3",
        list.as_uuid(),
        page.after,
        page.limit
    )
}

/// Bytes of a chunk, unless a single line has more: some thousand lines.
const CHUNK: usize = 256 << 10;

/// Some whole lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chunk<'a> {
    bytes: &'a [u8],
    lines: usize,
}

/// A file in chunks, at least one.
fn chunks(file: &[u8]) -> Vec<Chunk<'_>> {
    let mut chunks = Vec::new();
    let mut rest = file;
    loop {
        let (bytes, more) = rest.split_at(end_of_chunk(rest));
        let ended = bytes.split_inclusive(|byte| *byte == b'\n').count();
        chunks.push(Chunk {
            bytes,
            lines: ended,
        });
        rest = more;
        if rest.is_empty() {
            return chunks;
        }
    }
}

/// Where the last line ends that fits into a chunk, or the first if none does.
fn end_of_chunk(rest: &[u8]) -> usize {
    if rest.len() <= CHUNK {
        return rest.len();
    }
    let is_end = |byte: &u8| *byte == b'\n';
    let last = rest[..CHUNK].iter().rposition(is_end);
    let end = last.or_else(|| rest.iter().position(is_end));
    end.map_or(rest.len(), |end| end + 1)
}

#[cfg(test)]
mod tests;
