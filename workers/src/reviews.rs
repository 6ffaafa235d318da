//! Decisions of the review desk: told when the time to undo them is over.

use apalis::prelude::{BoxDynError, Data};
use queue::Finish;
use store::{
    PgPool,
    jobs::ReviewJob,
    review::{self, Ended},
};

use crate::job_retries::later;

/// Runs one job. Without an opinion, there is nothing to do: the person undid it.
pub(crate) async fn tell(
    job: ReviewJob,
    pool: Data<PgPool>,
) -> Result<Finish<Option<Ended>>, BoxDynError> {
    let opinion = job.opinion;
    Ok(match review::held_for(&pool, opinion).await? {
        None => Finish::Done(None),
        Some(left) if left.is_zero() => Finish::Done(Some(Ended { opinion })),
        Some(left) => later(left),
    })
}
