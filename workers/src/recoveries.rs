//! Recover: what an endpoint has missed or lost is put on its way again, a slice at a time. Nothing is sent here.

use apalis::prelude::BoxDynError;
use queue::Finish;
use store::{
    PgPool,
    jobs::RecoveryJob,
    recovery::{
        Recovery,
        slice::{self, Next, Slice},
    },
};

use crate::slices::Slices;

/// What recovering works with.
#[derive(Clone)]
pub struct Recoverer {
    pool: PgPool,
}

impl Recoverer {
    /// One who recovers what is in this database.
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

impl Slices for Recoverer {
    type Chain = Recovery;
    type Found = Slice;

    /// Waits while enough is on its way.
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
