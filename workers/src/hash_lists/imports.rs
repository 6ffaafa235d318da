//! Import: a chunk of a file of hashes is read, line by line.

use apalis::prelude::{BoxDynError, Data};
use domain::hash_list::parse_line;
use store::{
    PgPool,
    hash_list::import::slice::{self, Chunk, Imported},
    jobs::HashImportJob,
};
use tokio::task::block_in_place;

/// What importing works with.
#[derive(Clone)]
pub struct Importer {
    pool: PgPool,
}

impl Importer {
    /// An importer.
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

/// Runs one job: one chunk. The effect enqueues the next one.
pub(crate) async fn import(
    job: HashImportJob,
    importer: Data<Importer>,
) -> Result<Option<Imported>, BoxDynError> {
    let chunk = slice::next(&importer.pool, job.import).await?;
    Ok(chunk.map(|chunk| block_in_place(|| read(&chunk))))
}

fn read(chunk: &Chunk) -> Imported {
    let mut imported = Imported::new(chunk);
    let lines = chunk.bytes.split_inclusive(|byte| *byte == b'\n');
    for (number, line) in (chunk.first_line..).zip(lines) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        imported.add(number, parse_line(line, chunk.algorithm));
    }
    imported
}
