//! Recoveries: what an endpoint has missed or lost is scheduled again, slice by slice. Nothing is
//! sent here.

use apalis::prelude::BoxDynError;
use queue::Finish;
use store::{
    PgPool,
    chain::Next,
    jobs::RecoveryJob,
    recovery::{
        Recovery,
        slice::{self, Slice},
    },
};

use crate::chain_worker::ChainWorker;

/// What a recovery needs.
#[derive(Clone)]
pub struct Recoverer {
    pool: PgPool,
}

impl Recoverer {
    /// Recovers what is in this database.
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

impl ChainWorker for Recoverer {
    type Chain = Recovery;
    type Found = Slice;

    /// Waits while enough deliveries wait for the endpoint.
    async fn next(&self, job: RecoveryJob) -> Result<Finish<Option<Slice>>, BoxDynError> {
        Ok(match slice::next(&self.pool, job.recovery).await? {
            Next::Nothing => Finish::Done(None),
            Next::Later(delay) => Finish::Again {
                effect: None,
                delay,
                charged: false,
            },
            Next::Slice(slice) => Finish::Done(Some(slice)),
        })
    }
}
