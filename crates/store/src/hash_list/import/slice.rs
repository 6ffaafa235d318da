//! A chunk of a file of hashes: what a job reads, and the effect of having read it.

mod imported;
mod store;

use domain::{
    id::{ActorId, HashImportId, HashListId, TeamId},
    image_hash::HashAlgorithm,
};
use sqlx::PgPool;

pub use self::imported::Imported;
use crate::Error;

/// The next chunk.
#[derive(Debug)]
pub struct Chunk {
    /// The import.
    pub import: HashImportId,
    /// The kind of hashes whose lines do not name it.
    pub algorithm: HashAlgorithm,
    /// The number of its first line in the file, from 1.
    pub first_line: i64,
    /// Its lines.
    pub bytes: Vec<u8>,
    list: HashListId,
    team: Option<TeamId>,
    number: i32,
    last: bool,
    by: Option<ActorId>,
}

/// Loads the next chunk; none if the import has ended.
pub async fn next(pool: &PgPool, import: HashImportId) -> Result<Option<Chunk>, Error> {
    let row = sqlx::query!(
        "
        select i.list_id, i.team_id, i.algorithm, i.chunks, i.next_chunk, i.created_by, c.first_line, c.bytes
        from hash_imports i
        join hash_import_chunks c on c.import_id = i.id and c.number = i.next_chunk
        where i.id = $1 and i.state = 'running'
        ",
        import.as_uuid(),
    )
    .fetch_optional(pool)
    .await?;
    row.map(|row| {
        Ok(Chunk {
            import,
            algorithm: row.algorithm.parse()?,
            first_line: row.first_line,
            bytes: row.bytes,
            list: row.list_id.into(),
            team: row.team_id.map(TeamId::from),
            number: row.next_chunk,
            last: row.next_chunk + 1 >= row.chunks,
            by: row.created_by.map(ActorId::from),
        })
    })
    .transpose()
}
