//! Deliver: sign events, send them through the egress guard, and log the attempts. A failed attempt is scheduled again in
//! Postgres; nothing sleeps here.

mod attempt;
mod message;
mod pace;
mod page;
pub mod ping;
mod turn;

use apalis::prelude::{BoxDynError, Data};
use database::Clock;
use domain::id::DeliveryId;
use queue::{Checkpoint, Finish, Run};
use store::{
    PgPool,
    delivery::{self, Asker, Loaded, Progress},
    gather::Loader,
    jobs::DeliveryJob,
    seal::MasterKey,
};
use tokio_util::sync::CancellationToken;

use self::{pace::Pace, page::Page};
use crate::outbound::Outbound;

/// What the delivering step works with.
#[derive(Clone)]
pub struct Courier {
    deliveries: Loader<DeliveryId, Loaded, Asker>,
    pool: PgPool,
    outbound: Outbound,
    clock: Clock,
    pace: Pace,
    /// The process is about to end: pages put back what they have not sent.
    stopping: CancellationToken,
}

impl Courier {
    /// A courier who sends through `outbound`, and signs with the time of `clock`. At most `pages` jobs at a time send requests of
    /// which they do not know yet that they take long. Once `stopping`, jobs end after the request that is under way.
    pub fn new(
        pool: PgPool,
        key: MasterKey,
        outbound: Outbound,
        clock: Clock,
        pages: usize,
        stopping: CancellationToken,
    ) -> Self {
        attempt::expect_none();
        page::expect_none();
        Self {
            deliveries: delivery::loader(pool.clone(), key),
            pool,
            outbound,
            clock,
            pace: Pace::new(pages),
            stopping,
        }
    }
}

/// Runs one job: a page, or a single delivery.
pub(crate) async fn deliver(
    job: DeliveryJob,
    run: Run,
    checkpoint: Checkpoint,
    courier: Data<Courier>,
) -> Result<Finish<Option<Progress>>, BoxDynError> {
    Page::new(&courier, &checkpoint, run, job).run().await
}
