//! Decisions of the review desk: told when the time to undo them is over.

use apalis::prelude::{BoxDynError, Data};
use queue::Finish;
use store::{
    PgPool,
    jobs::ReviewJob,
    review::{self, Ended},
};

/// What telling needs.
#[derive(Clone)]
pub struct Teller {
    pool: PgPool,
}

impl Teller {
    /// Tells what is in this database.
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

/// Runs one job. Without an opinion, there is nothing to do: the person undid it.
pub(crate) async fn tell(
    job: ReviewJob,
    teller: Data<Teller>,
) -> Result<Finish<Option<Ended>>, BoxDynError> {
    let opinion = job.opinion;
    Ok(match review::held_for(&teller.pool, opinion).await? {
        None => Finish::Done(None),
        Some(left) if left.is_zero() => Finish::Done(Some(Ended { opinion })),
        Some(left) => Finish::Again {
            effect: None,
            delay: left,
            charged: false,
        },
    })
}
