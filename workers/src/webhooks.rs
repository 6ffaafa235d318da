//! The webhooks step. Events are signed, sent through the egress guard, and their attempts
//! recorded. A failed attempt is scheduled again in Postgres; nothing sleeps here.

mod attempt;
mod delivery_turn;
mod page;
pub mod ping;
mod send_concurrency;

use apalis::prelude::{BoxDynError, Data};
use database::Clock;
use domain::id::DeliveryId;
use queue::{Bottleneck, Checkpoint, Finish, Queue, Run, Waits};
use store::{
    PgPool,
    delivery::{self, Asker, Loaded, Progress},
    encryption::MasterKey,
    gather::Loader,
    jobs::{self, DeliveryJob},
};
use telemetry::trace::Current;
use tokio_util::sync::CancellationToken;

use self::{page::Page, send_concurrency::SendConcurrency};
use crate::outbound::Outbound;

/// What the delivering step works with.
#[derive(Clone)]
pub struct Courier {
    deliveries: Loader<DeliveryId, Loaded, Asker>,
    pool: PgPool,
    outbound: Outbound,
    clock: Clock,
    concurrency: SendConcurrency,
    /// Deliveries whose endpoints take no more in this second.
    paced: Waits,
    /// Cancelled when the process is about to end. Then pages give back what they have not sent.
    stopping: CancellationToken,
}

impl Courier {
    /// Sends through `outbound` and signs with the time of `clock`. At most `pages` jobs at a time
    /// wait for answers that are not known to be slow. `queue` is told what deliveries wait for.
    /// After `stopping` is cancelled, jobs end when their current request ends.
    pub fn new(
        pool: PgPool,
        key: MasterKey,
        outbound: Outbound,
        clock: Clock,
        pages: usize,
        queue: &Queue,
        stopping: CancellationToken,
    ) -> Self {
        let waits = |bound| queue.waits(jobs::WEBHOOKS, bound);
        attempt::expect_none();
        page::expect_none();
        Self {
            deliveries: delivery::loader(pool.clone(), key),
            pool,
            outbound,
            clock,
            concurrency: SendConcurrency::new(
                pages,
                waits(Bottleneck::Slots),
                waits(Bottleneck::TeamShare),
            ),
            paced: waits(Bottleneck::EndpointPace),
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
    trace: Data<Current>,
) -> Result<Finish<Option<Progress>>, BoxDynError> {
    let page = Page::new(&courier, &checkpoint, run, job);
    (*trace).clone().scope(Box::pin(page.run())).await
}
