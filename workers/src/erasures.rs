//! Erasures: what is stored about some items is removed, slice by slice, and a certificate is signed.

use apalis::prelude::BoxDynError;
use queue::Finish;
use store::{
    PgPool,
    chain::Next,
    encryption::MasterKey,
    erasure::{
        Erasure,
        slice::{self, Slice},
    },
    jobs::ErasureJob,
};

use crate::chain_worker::ChainWorker;

/// What an erasure needs.
#[derive(Clone)]
pub struct Eraser {
    pool: PgPool,
    master_key: MasterKey,
}

impl Eraser {
    /// Erases what is in this database. The master key opens the key that signs certificates.
    pub fn new(pool: PgPool, master_key: MasterKey) -> Self {
        Self { pool, master_key }
    }
}

impl ChainWorker for Eraser {
    type Chain = Erasure;
    type Found = Box<Slice>;

    /// Waits while transactions run that may still add something to the items.
    async fn next(&self, job: ErasureJob) -> Result<Finish<Option<Box<Slice>>>, BoxDynError> {
        let next = slice::next(&self.pool, &self.master_key, job.erasure).await?;
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
