//! Recover: what an endpoint has missed or lost is put on its way again, a slice at a time. Nothing is sent here.

use apalis::prelude::{BoxDynError, Data};
use queue::Finish;
use store::{
    PgPool,
    jobs::RecoveryJob,
    recovery::slice::{self, Next, Slice},
};

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

/// Runs one job: one slice, unless enough is on its way. The effect enqueues the next one.
pub(crate) async fn recover(
    job: RecoveryJob,
    recoverer: Data<Recoverer>,
) -> Result<Finish<Option<Slice>>, BoxDynError> {
    Ok(match slice::next(&recoverer.pool, job.recovery).await? {
        Next::Nothing => Finish::Done(None),
        Next::Later(delay) => Finish::Again {
            effect: None,
            delay,
            charged: false,
        },
        Next::Slice(slice) => Finish::Done(Some(slice)),
    })
}
