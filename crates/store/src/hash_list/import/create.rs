//! Storing a file in chunks, with the job that reads the first one.

use domain::{
    actor::Actor,
    id::{HashImportId, TeamId},
    image_hash::HashAlgorithm,
};
use queue::NewJobs;
use sqlx::PgConnection;
use uuid::Uuid;

use super::chunks::chunks;
use crate::{Error, chain, hash_list::HashList, jobs};

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
