//! The other side of [`crate::driver_client`]: a process in which our queue, or the loop written by hand, enqueues and works as
//! it is told on standard input. Its runtime has a thread for each core, as a service's has.

mod by_hand;
mod gatehouse_queue;
mod producer;
mod recorder;
mod runs;
mod server;

use std::{sync::Arc, time::Duration};

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

pub(crate) use self::gatehouse_queue::QUEUE;
use self::{
    by_hand::{ByHand, Table},
    gatehouse_queue::GatehouseQueue,
    recorder::Recorder,
    runs::Runs,
    server::serve,
};
use crate::protocol::{About, Work};

/// Connections to enqueue through: as many as the peers have.
const CONNECTIONS: u32 = 8;
/// Options of `driver`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// What runs
    mode: Mode,
    /// Where it connects to
    database_url: String,
}

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Mode {
    /// Our queue
    Queue,
    /// The loop written by hand, on a lean table of its own
    ByHand,
    /// The same loop on a table with all columns of ours but lanes
    ByHandLaneless,
}

/// The arguments of a job.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct Job {
    n: u64,
    /// When it should be enqueued, by [`crate::clock`]; 0 if that does not matter.
    #[serde(default)]
    due: u64,
    /// Whether its first attempt fails.
    #[serde(default)]
    fails: bool,
}

/// A job and the number of its lane.
#[derive(Clone, Copy, Debug)]
struct Placed {
    job: Job,
    lane: u64,
}

/// What can be driven.
trait Driven: Send + Sync + 'static {
    fn about(&self) -> About;

    /// Enqueues jobs with one statement and one commit.
    fn enqueue(
        &self,
        jobs: &[Placed],
        delay: Duration,
    ) -> impl Future<Output = anyhow::Result<()>> + Send;

    /// Starts to work.
    fn work(&self, work: Work, runs: Arc<Runs>);

    /// Stops working. Afterwards all results are in the database.
    async fn stop(&self) -> anyhow::Result<()>;

    /// Called before the process ends.
    async fn close(&self);
}

/// Answers requests until standard input ends.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let recorder = Recorder::install()?;
    match options.mode {
        Mode::Queue => serve(GatehouseQueue::open(&options.database_url).await?, recorder).await,
        Mode::ByHand => {
            let by_hand = ByHand::open(&options.database_url, Table::Bare).await?;
            serve(by_hand, recorder).await
        }
        Mode::ByHandLaneless => {
            let by_hand = ByHand::open(&options.database_url, Table::Laneless).await?;
            serve(by_hand, recorder).await
        }
    }
}

impl Placed {
    fn plain(n: u64, lane: u64) -> Self {
        let job = Job {
            n,
            due: 0,
            fails: false,
        };
        Self { job, lane }
    }
}
