//! Imports: a chunk of a file of hashes is read line by line.

use apalis::prelude::BoxDynError;
use domain::hash_list::parse_line;
use queue::Finish;
use store::{
    PgPool,
    hash_list::import::{
        Import,
        slice::{self, Chunk, Imported},
    },
    jobs::HashImportJob,
};
use tokio::task::block_in_place;

use crate::chain_worker::ChainWorker;

/// What an import needs.
#[derive(Clone)]
pub struct Importer {
    pool: PgPool,
}

impl Importer {
    /// Imports into the lists of this database.
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

impl ChainWorker for Importer {
    type Chain = Import;
    type Found = Imported;

    async fn next(&self, job: HashImportJob) -> Result<Finish<Option<Imported>>, BoxDynError> {
        let chunk = slice::next(&self.pool, job.import).await?;
        let read = chunk.map(|chunk| block_in_place(|| read(&chunk)));
        Ok(Finish::Done(read))
    }
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
