//! Items that were judged for one answer only are removed.

use std::time::Duration;

use apalis::prelude::{BoxDynError, Data};
use queue::Finish;
use store::{
    PgPool,
    jobs::RemovalJob,
    media::transient::{self, Removed},
};

use crate::job_retries::later;

/// How long an item stays that a legal hold keeps, before it is looked at again.
const HELD: Duration = Duration::from_hours(1);

/// Runs one job.
pub(crate) async fn remove(
    job: RemovalJob,
    pool: Data<PgPool>,
) -> Result<Finish<Option<Removed>>, BoxDynError> {
    let RemovalJob { media } = job;
    if transient::is_held(&pool, media).await? {
        return Ok(later(HELD));
    }
    Ok(Finish::Done(Some(Removed { media })))
}
