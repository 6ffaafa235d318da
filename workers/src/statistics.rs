//! Statistics: what happened is added up, slice by slice. The chain is begun again every minute by
//! any process that works on its queue.

use std::time::Duration;

use apalis::prelude::BoxDynError;
use database::Trouble;
use metrics::gauge;
use queue::{Finish, Queue};
use store::{
    Error, PgPool,
    jobs::StatisticsJob,
    statistics::{
        self, Statistics,
        slice::{self, Slice},
    },
};
use telemetry::{failed, over};
use tokio::time::{MissedTickBehavior, interval};

use crate::chain_worker::ChainWorker;

/// What a slice needs.
#[derive(Clone)]
pub struct Summer {
    pool: PgPool,
}

impl Summer {
    /// Adds up what is in this database.
    pub fn new(pool: PgPool) -> Self {
        Self { pool }
    }
}

impl ChainWorker for Summer {
    type Chain = Statistics;
    type Found = Slice;

    async fn next(&self, _: StatisticsJob) -> Result<Finish<Option<Slice>>, BoxDynError> {
        Ok(Finish::Done(slice::next(&self.pool).await?))
    }
}

/// How often a process looks whether the chain is due.
const LOOK: Duration = Duration::from_secs(10);

/// Begins the chain whenever it is due, and shows how far it is behind.
pub(crate) async fn begin_regularly(pool: PgPool, queue: Queue) {
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let trouble = Trouble::in_turn();
    loop {
        ticks.tick().await;
        match begin(&pool, &queue).await {
            Ok(()) => over!(trouble.worked(), "the statistics are begun again"),
            Err(error) => failed!(
                trouble.failed(&error),
                %error,
                "could not begin the statistics; trying again"
            ),
        }
    }
}

async fn begin(pool: &PgPool, queue: &Queue) -> Result<(), Error> {
    if let Some(jobs) = statistics::begin(pool).await? {
        queue.enqueued(&jobs);
    }
    gauge!("gatehouse_statistics_lag_seconds").set(statistics::lag(pool).await?);
    Ok(())
}
