//! Our queue, used as a service would use it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use anyhow::Context as _;
use apalis::{
    layers::WorkerBuilderExt as _,
    prelude::{BoxDynError, Data, Monitor, MonitorError, WorkerBuilder},
};
use queue::{
    BackendSettings, Config, Effect, FinishTx, NewJob, NewJobs, Queue, QueueName, Run, Survivor,
};
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{CONNECTIONS, Driven, Job, Placed, Runs};
use crate::{
    lane::lane,
    protocol::{About, Work},
};

/// The queue that all measurements use.
pub(crate) const QUEUE: QueueName = QueueName::new("nothing");

pub(super) struct GatehouseQueue {
    pool: PgPool,
    queue: Queue,
    stop: CancellationToken,
    working: Mutex<Option<JoinHandle<Result<(), MonitorError>>>>,
}

/// What the handlers are given.
#[derive(Clone)]
struct Surroundings {
    runs: Arc<Runs>,
    work: Work,
}

/// The number of a job that is done.
struct Done(u64);

impl Effect for Done {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let numbers: Vec<i64> = batch
            .iter()
            .map(|done| done.effect.0.cast_signed())
            .collect();
        sqlx::query("insert into effects (n) select unnest($1::bigint[])")
            .bind(numbers)
            .execute(&mut *tx.conn)
            .await?;
        Ok(())
    }
}

async fn nothing(job: Job, around: Data<Surroundings>) -> Result<(), BoxDynError> {
    around.runs.start(job);
    if around.work.job_ms > 0 {
        tokio::time::sleep(Duration::from_millis(around.work.job_ms)).await;
    }
    Ok(())
}

async fn something(job: Job, around: Data<Surroundings>, run: Run) -> Result<Done, BoxDynError> {
    around.runs.start(job);
    if around.work.job_ms > 0 {
        tokio::time::sleep(Duration::from_millis(around.work.job_ms)).await;
    }
    if job.fails && run.attempt == 1 {
        return Err("not yet".into());
    }
    around.runs.finish();
    Ok(Done(job.n))
}

fn config() -> Config {
    Config {
        finish_batch: 1_000,
        ..Config::default()
    }
}

/// Jobs as our queue wants them.
pub(super) fn new_jobs(jobs: &[Placed], delay: Duration) -> NewJobs {
    jobs.iter()
        .map(|placed| NewJob::new(QUEUE, lane(placed.lane), &placed.job).delay(delay))
        .collect()
}

impl GatehouseQueue {
    pub(super) async fn open(url: &str) -> anyhow::Result<Self> {
        let pool = PgPoolOptions::new()
            .max_connections(CONNECTIONS)
            .connect(url)
            .await?;
        Ok(Self {
            queue: Queue::open(pool.clone(), config())?,
            pool,
            stop: CancellationToken::new(),
            working: Mutex::default(),
        })
    }

    fn lock_working(&self) -> MutexGuard<'_, Option<JoinHandle<Result<(), MonitorError>>>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Driven for GatehouseQueue {
    fn about(&self) -> About {
        let Work {
            concurrency,
            prefetch,
            ..
        } = Work::FULL_SPEED;
        About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            settings: format!(
                "concurrency {concurrency}, prefetch {prefetch}, {:?}",
                config()
            ),
        }
    }

    async fn enqueue(&self, jobs: &[Placed], delay: Duration) -> anyhow::Result<()> {
        let jobs = new_jobs(jobs, delay);
        queue::enqueue(&mut *self.pool.acquire().await?, &jobs).await?;
        self.queue.enqueued(&jobs);
        Ok(())
    }

    fn work(&self, work: Work, runs: Arc<Runs>) {
        let queue = self.queue.clone();
        let around = Surroundings { runs, work };
        let backend = move || {
            let settings = BackendSettings::new(QUEUE).prefetch(work.prefetch);
            queue.backend::<Job>(settings)
        };
        let monitor = if work.effects {
            Monitor::new().register(move |_| {
                WorkerBuilder::new("nothing")
                    .backend(backend())
                    .concurrency(work.concurrency)
                    .data(around.clone())
                    .build(something)
            })
        } else {
            Monitor::new().register(move |_| {
                WorkerBuilder::new("nothing")
                    .backend(backend())
                    .concurrency(work.concurrency)
                    .data(around.clone())
                    .build(nothing)
            })
        };
        let stop = self.stop.clone();
        let working = tokio::spawn(async move {
            let signal = async {
                stop.cancelled().await;
                Ok(())
            };
            monitor.run_with_signal(signal).await
        });
        *self.lock_working() = Some(working);
    }

    async fn stop(&self) -> anyhow::Result<()> {
        self.stop.cancel();
        let working = self.lock_working().take();
        if let Some(working) = working {
            working.await.context("the worker panicked")??;
        }
        Ok(())
    }

    async fn close(&self) {
        self.queue.close(Duration::from_secs(5)).await;
    }
}
