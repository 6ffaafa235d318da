//! The workers of chains: see [`store::chain`] for what a chain is. Those of [backtests](crate::backtests) and of
//! [scans](crate::hash_scans) have files of their own.

use std::time::Duration;

use apalis::prelude::{BoxDynError, Data};
use database::Trouble;
use domain::hash_list::parse_line;
use metrics::gauge;
use queue::{Effect, Finish, Queue};
use store::{
    Error, PgPool,
    bulk_decision::{self, Bulk},
    chain::{Chain, Next},
    closure::{self, Closure},
    encryption::MasterKey,
    erasure::{self, Erasure},
    hash_list::import::{
        self, Import,
        slice::{Chunk, Imported},
    },
    jobs::{BulkJob, ClosureJob, ErasureJob, HashImportJob, RecoveryJob, StatisticsJob},
    recovery::{self, Recovery},
    statistics::{self, Statistics},
};
use telemetry::{failed, over};
use tokio::{
    task::block_in_place,
    time::{MissedTickBehavior, interval},
};

use crate::job_retries::later;

/// How the run of a slice ends.
pub(crate) type SliceEnd<E> = Result<Finish<Option<E>>, BoxDynError>;

/// Does the slices of one kind of chain.
pub(crate) trait ChainWorker: Clone + Send + Sync + 'static {
    /// The chain.
    type Chain: Chain;

    /// What a slice found. Its effect records that, and enqueues the job for the next slice.
    type Found: Effect;

    /// Does the next slice. The effect is none when the chain has ended, or when the slice has to wait.
    fn next(
        &self,
        job: <Self::Chain as Chain>::Job,
    ) -> impl Future<Output = SliceEnd<Self::Found>> + Send;
}

/// Runs one job of a chain.
pub(crate) async fn slice<S: ChainWorker>(
    job: <S::Chain as Chain>::Job,
    worker: Data<S>,
) -> SliceEnd<S::Found> {
    worker.next(job).await
}

/// Imports: a chunk of a file of hashes is read line by line.
#[derive(Clone)]
pub(crate) struct Importer(pub(crate) PgPool);

impl ChainWorker for Importer {
    type Chain = Import;
    type Found = Imported;

    async fn next(&self, job: HashImportJob) -> SliceEnd<Imported> {
        let chunk = import::slice::next(&self.0, job.import).await?;
        let read = chunk.map(|chunk| block_in_place(|| read(&chunk)));
        Ok(Finish::Done(read))
    }
}

fn read(chunk: &Chunk) -> Imported {
    let mut imported = Imported::new(chunk);
    let lines = chunk.bytes.split_inclusive(|byte| *byte == b'\n');
    for (number, line) in (chunk.first_line..).zip(lines) {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        imported.add(number, parse_line(line, chunk.algorithm));
    }
    imported
}

/// Recoveries: what an endpoint has missed or lost is scheduled again. Nothing is sent here. A slice waits while enough
/// deliveries wait for the endpoint.
#[derive(Clone)]
pub(crate) struct Recoverer(pub(crate) PgPool);

impl ChainWorker for Recoverer {
    type Chain = Recovery;
    type Found = recovery::slice::Slice;

    async fn next(&self, job: RecoveryJob) -> SliceEnd<Self::Found> {
        Ok(match recovery::slice::next(&self.0, job.recovery).await? {
            Next::Nothing => Finish::Done(None),
            Next::Later(delay) => later(delay),
            Next::Slice(slice) => Finish::Done(Some(slice)),
        })
    }
}

/// Statistics: what happened is added up.
#[derive(Clone)]
pub(crate) struct Summer(pub(crate) PgPool);

impl ChainWorker for Summer {
    type Chain = Statistics;
    type Found = statistics::slice::Slice;

    async fn next(&self, _: StatisticsJob) -> SliceEnd<Self::Found> {
        Ok(Finish::Done(statistics::slice::next(&self.0).await?))
    }
}

/// How often a process looks whether the chain is due.
const LOOK: Duration = Duration::from_secs(10);

/// Begins the chain of statistics whenever it is due, and shows how far it is behind.
pub(crate) async fn begin_statistics(pool: PgPool, queue: Queue) {
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

/// Bulk decisions: a lead's word about many reviews is held for each of them. Nothing is told here.
#[derive(Clone)]
pub(crate) struct Decider(pub(crate) PgPool);

impl ChainWorker for Decider {
    type Chain = Bulk;
    type Found = bulk_decision::slice::Slice;

    async fn next(&self, job: BulkJob) -> SliceEnd<Self::Found> {
        let slice = bulk_decision::slice::next(&self.0, job.bulk).await?;
        Ok(Finish::Done(slice))
    }
}

/// Erasures: what is stored about some items is removed, and a certificate is signed. A slice waits while transactions run
/// that may still add something to the items. The master key opens the key that signs.
#[derive(Clone)]
pub(crate) struct Eraser(pub(crate) PgPool, pub(crate) MasterKey);

impl ChainWorker for Eraser {
    type Chain = Erasure;
    type Found = Box<erasure::slice::Slice>;

    async fn next(&self, job: ErasureJob) -> SliceEnd<Self::Found> {
        Ok(
            match erasure::slice::next(&self.0, &self.1, job.erasure).await? {
                Next::Nothing => Finish::Done(None),
                Next::Later(delay) => later(delay),
                Next::Slice(slice) => Finish::Done(Some(slice)),
            },
        )
    }
}

/// Closures: when the grace is over, the sites are erased, one after the other. A slice waits until then, and for the
/// erasures. The master key seals what replaces the webhook secret of a site.
#[derive(Clone)]
pub(crate) struct Closer(pub(crate) PgPool, pub(crate) MasterKey);

impl ChainWorker for Closer {
    type Chain = Closure;
    type Found = Box<closure::slice::Slice>;

    async fn next(&self, job: ClosureJob) -> SliceEnd<Self::Found> {
        Ok(
            match closure::slice::next(&self.0, &self.1, job.closure).await? {
                Next::Nothing => Finish::Done(None),
                Next::Later(delay) => later(delay),
                Next::Slice(slice) => Finish::Done(Some(slice)),
            },
        )
    }
}
