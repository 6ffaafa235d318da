//! Closures: when the grace is over, the sites are erased, one after the other.

use apalis::prelude::BoxDynError;
use queue::Finish;
use store::{
    PgPool,
    chain::Next,
    closure::{
        Closure,
        slice::{self, Slice},
    },
    encryption::MasterKey,
    jobs::ClosureJob,
};

use crate::chain_worker::ChainWorker;

/// What a closure needs.
#[derive(Clone)]
pub struct Closer {
    pool: PgPool,
    master_key: MasterKey,
}

impl Closer {
    /// Closes what is in this database. The master key seals what replaces the webhook secret of a site.
    pub fn new(pool: PgPool, master_key: MasterKey) -> Self {
        Self { pool, master_key }
    }
}

impl ChainWorker for Closer {
    type Chain = Closure;
    type Found = Box<Slice>;

    /// Waits until the grace is over, and for the erasures.
    async fn next(&self, job: ClosureJob) -> Result<Finish<Option<Box<Slice>>>, BoxDynError> {
        let next = slice::next(&self.pool, &self.master_key, job.closure).await?;
        Ok(match next {
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
