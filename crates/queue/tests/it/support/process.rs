//! A process with its workers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use apalis::{
    layers::WorkerBuilderExt,
    prelude::{
        AbortError, BoxDynError, Data, Monitor, MonitorContext, RetryAfterError, WorkerBuilder,
    },
};
use queue::{
    BackendSettings, Checkpoint, Config, Finish, NewJob, NewJobs, NotRecorded, Queue, QueueName,
    Retry, Run,
};
use sqlx::PgPool;
use tokio::task::JoinHandle;

use super::{
    jobs::{Act, End, Outage, Recorded, UNTIL_LET_GO, WORK, act, lane},
    tables::PATIENCE,
};

#[derive(Clone, Default)]
pub(crate) struct Observed {
    pub(crate) started: Arc<AtomicU32>,
    pub(crate) running: Arc<AtomicU32>,
    pub(crate) most_running: Arc<AtomicU32>,
    /// Checkpoints that were refused.
    pub(crate) refused: Arc<AtomicU32>,
    /// Jobs that wait for the test go on.
    is_let_go: Arc<AtomicBool>,
}

impl Observed {
    /// Waits so many milliseconds, or until the test lets the jobs go.
    async fn pause(&self, ms: u64) {
        if ms != UNTIL_LET_GO {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            return;
        }
        while !self.is_let_go.load(SeqCst) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

struct Slot(Arc<AtomicU32>);

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

async fn perform(
    act: Act,
    run: Run,
    checkpoint: Checkpoint,
    seen: Data<Observed>,
) -> Result<Finish<Recorded>, BoxDynError> {
    seen.started.fetch_add(1, SeqCst);
    let running = seen.running.fetch_add(1, SeqCst) + 1;
    seen.most_running.fetch_max(running, SeqCst);
    let _slot = Slot(seen.running.clone());
    for mark in act.checkpoints {
        let effect = Recorded {
            name: mark.name,
            attempt: run.attempt,
            poison: mark.poison,
            follow_up: mark.follow_up,
            follow_up_sleep_ms: 0,
        };
        let recorded = checkpoint.record(effect).await;
        if recorded == Err(NotRecorded::NoLongerOurs) {
            seen.refused.fetch_add(1, SeqCst);
        }
        recorded?;
        seen.pause(mark.sleep_ms).await;
    }
    seen.pause(act.sleep_ms).await;
    let effect = Recorded {
        name: act.name.clone(),
        attempt: run.attempt,
        poison: act.poison,
        follow_up: act.follow_up,
        follow_up_sleep_ms: act.follow_up_sleep_ms,
    };
    let turn = seen.started.load(SeqCst);
    match act.at_first.get(usize::from(run.attempt) - 1).copied() {
        Some(End::Fail) => Err("not this time".into()),
        // An uncharged run leaves the attempt as it was.
        Some(End::Outage) if turn > 1 => Ok(Finish::Done(effect)),
        Some(End::Outage) => Err(Outage.into()),
        Some(End::FailAfter { ms }) => {
            Err(RetryAfterError::new("later", Duration::from_millis(ms)).into())
        }
        Some(End::Abort) => Err(AbortError::new("never").into()),
        Some(End::Panic) => panic!("as told"),
        // An uncharged run leaves the attempt as it was: three of them are enough.
        Some(End::Again { charged: false, .. }) if turn > 3 => Ok(Finish::Done(effect)),
        Some(End::Again { ms, charged }) => Ok(Finish::Again {
            effect,
            delay: Duration::from_millis(ms),
            charged,
        }),
        None => Ok(Finish::Done(effect)),
    }
}

/// A poll that comes after a test has given up: what runs was woken by something else.
pub(crate) const NEVER: Duration = Duration::from_hours(1);

/// Settings that are fast enough for a test: sweeps ten times a second. Leases are so long that a process that waits for its turn
/// on a busy machine keeps its own.
pub(crate) fn quick() -> Config {
    Config {
        lease: Duration::from_mins(1),
        heartbeat: Duration::from_millis(200),
        sweep: Duration::from_millis(100),
        poll: Duration::from_millis(200),
        deadline: Duration::from_secs(2),
        ..Config::default()
    }
}

pub(crate) fn settings() -> BackendSettings {
    BackendSettings::new(WORK)
        .retry(Retry {
            initial: Duration::from_millis(40),
            factor: 2.0,
            max: Duration::from_secs(1),
            jitter: 0.1,
        })
        .uncharged(|error| error.is::<Outage>())
}

/// A process with its workers.
pub(crate) struct Process {
    pub(crate) queue: Queue,
    pub(crate) seen: Observed,
    monitor: MonitorContext,
    workers: JoinHandle<()>,
}

impl Process {
    pub(crate) fn start(pool: &PgPool, config: Config, settings: BackendSettings) -> Self {
        // Jobs that wait for the test end by no other means.
        Self::start_with(pool, config, settings, 16, PATIENCE)
    }

    pub(crate) fn start_with(
        pool: &PgPool,
        config: Config,
        settings: BackendSettings,
        concurrency: usize,
        time_out: Duration,
    ) -> Self {
        Self::start_all(pool, config, &[settings], concurrency, time_out)
    }

    /// With a worker for each queue.
    pub(crate) fn start_all(
        pool: &PgPool,
        config: Config,
        all: &[BackendSettings],
        concurrency: usize,
        time_out: Duration,
    ) -> Self {
        let queue = Queue::open(pool.clone(), config).unwrap();
        let seen = Observed::default();
        let monitor = all.iter().fold(Monitor::new(), |monitor, &settings| {
            let (queue, seen) = (queue.clone(), seen.clone());
            monitor.register(move |_| {
                WorkerBuilder::new(settings.queue().as_str())
                    .backend(queue.backend::<Act>(settings))
                    .data(seen.clone())
                    .concurrency(concurrency)
                    .timeout(time_out)
                    .build(perform)
            })
        });
        let context = monitor.context();
        let workers = tokio::spawn(async move { monitor.run().await.expect("the workers") });
        Self {
            queue,
            seen,
            monitor: context,
            workers,
        }
    }

    /// Stops in the right order: workers first, then the queue.
    pub(crate) async fn stop(self) {
        self.monitor.shutdown().expect("a shutdown");
        self.workers.await.expect("the monitor");
        self.queue.close(Duration::from_secs(5)).await;
    }

    /// Stops as [`Self::stop`] does. Jobs that wait for [`UNTIL_LET_GO`] go on when the workers have been told.
    pub(crate) async fn stop_and_let_go(self) {
        self.monitor.shutdown().expect("a shutdown");
        self.let_go();
        self.workers.await.expect("the monitor");
        self.queue.close(Duration::from_secs(5)).await;
    }

    /// Stops the workers, and leaves the queue open.
    pub(crate) async fn stop_workers(self) {
        self.monitor.shutdown().expect("a shutdown");
        self.workers.await.expect("the monitor");
    }

    /// Drops the workers with their running jobs, as at the end of a grace period.
    pub(crate) async fn abandon(self) {
        self.workers.abort();
        let _ = self.workers.await;
        self.queue.close(Duration::from_secs(5)).await;
    }

    /// Lets jobs that wait for [`UNTIL_LET_GO`] go on.
    pub(crate) fn let_go(&self) {
        self.seen.is_let_go.store(true, SeqCst);
    }

    pub(crate) fn started(&self) -> u32 {
        self.seen.started.load(SeqCst)
    }

    /// Waits until it holds its lease and its worker on a queue has room for new jobs. It has none
    /// before its first claim is answered, and during each later one.
    pub(crate) async fn until_it_has_room(&self, name: QueueName) {
        let one = NewJobs::from(NewJob::new(name, lane(1), &act("asks for room")));
        let deadline = Instant::now() + PATIENCE;
        while self.queue.reserve(&one).columns().wanted != [true] {
            assert!(Instant::now() < deadline, "it never takes a job");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until it runs jobs: a job is claimed a moment before it begins.
    pub(crate) async fn until_started(&self, jobs: u32) {
        let deadline = Instant::now() + PATIENCE;
        while self.started() < jobs {
            assert!(
                Instant::now() < deadline,
                "{} of {jobs} began",
                self.started()
            );
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
