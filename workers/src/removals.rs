//! Items that were judged for one answer only are removed.

use std::time::Duration;

use apalis::prelude::{BoxDynError, Data};
use queue::Finish;
use store::{
    PgPool,
    jobs::RemovalJob,
    media::transient::{self, Removed},
};

/// How long an item stays that a legal hold keeps, before it is looked at again.
const HELD: Duration = Duration::from_hours(1);

/// What removing needs.
#[derive(Clone)]
pub struct Remover {
    pool: PgPool,
}

impl Remover {
    /// Removes what is in this database.
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

/// Runs one job.
pub(crate) async fn remove(
    job: RemovalJob,
    remover: Data<Remover>,
) -> Result<Finish<Option<Removed>>, BoxDynError> {
    let RemovalJob { media } = job;
    if transient::is_held(&remover.pool, media).await? {
        return Ok(Finish::Again {
            effect: None,
            delay: HELD,
            charged: false,
        });
    }
    Ok(Finish::Done(Some(Removed { media })))
}
