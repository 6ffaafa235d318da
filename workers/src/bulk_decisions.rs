//! Bulk decisions: a lead's word about many reviews is held for each of them, slice by slice. Nothing
//! is told here.

use apalis::prelude::BoxDynError;
use queue::Finish;
use store::{
    PgPool,
    bulk_decision::{
        Bulk,
        slice::{self, Slice},
    },
    jobs::BulkJob,
};

use crate::chain_worker::ChainWorker;

/// What a bulk decision needs.
#[derive(Clone)]
pub struct Decider {
    pool: PgPool,
}

impl Decider {
    /// Decides about what is in this database.
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

impl ChainWorker for Decider {
    type Chain = Bulk;
    type Found = Slice;

    async fn next(&self, job: BulkJob) -> Result<Finish<Option<Slice>>, BoxDynError> {
        Ok(Finish::Done(slice::next(&self.pool, job.bulk).await?))
    }
}
