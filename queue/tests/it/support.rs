//! A small service around the queue: jobs that do what their payload says, and effects that leave rows.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use apalis::{
    layers::WorkerBuilderExt,
    prelude::{
        AbortError, BoxDynError, Data, Monitor, MonitorContext, RetryAfterError, WorkerBuilder,
    },
};
use queue::{
    BackendSettings, Checkpoint, Config, Effect, Finish, FinishTx, Lane, NewJob, NewJobs,
    NotRecorded, Queue, QueueName, Retry, Run, Survivor,
};
use serde::{Deserialize, Serialize};
use sqlx::PgPool;
use tokio::{task::JoinHandle, time::Instant};
use uuid::Uuid;

pub(crate) const WORK: QueueName = QueueName::new("work");
pub(crate) const MORE: QueueName = QueueName::new("more");

/// What a job does when it runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) name: String,
    /// What it records first, one after the other.
    #[serde(default)]
    pub(crate) checkpoints: Vec<Mark>,
    /// Sleeps this long before it ends.
    pub(crate) sleep_ms: u64,
    /// How its first attempts end.
    pub(crate) at_first: Vec<End>,
    /// Whether its effect breaks a constraint.
    pub(crate) poison: bool,
    /// Whether its effect enqueues a job in `MORE`.
    pub(crate) follow_up: bool,
    /// How long that one sleeps.
    #[serde(default)]
    pub(crate) follow_up_sleep_ms: u64,
}

/// What a job records while it runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) poison: bool,
    pub(crate) follow_up: bool,
    /// How long it goes on afterwards.
    pub(crate) sleep_ms: u64,
}

pub(crate) fn mark(name: &str) -> Mark {
    Mark {
        name: name.to_owned(),
        ..Mark::default()
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Fail,
    /// The database is to blame.
    Outage,
    FailAfter {
        ms: u64,
    },
    Abort,
    Panic,
    Again {
        ms: u64,
        charged: bool,
    },
}

pub(crate) fn act(name: &str) -> Act {
    Act {
        name: name.to_owned(),
        ..Act::default()
    }
}

/// One row in `effects` for each application.
#[derive(Debug)]
pub(crate) struct Recorded {
    name: String,
    attempt: u16,
    poison: bool,
    follow_up: bool,
    follow_up_sleep_ms: u64,
}

impl Effect for Recorded {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let names: Vec<&str> = batch.iter().map(|job| job.effect.name.as_str()).collect();
        assert!(!names.contains(&"bomb"), "an effect panicked");
        let attempts: Vec<i32> = batch
            .iter()
            .map(|job| i32::from(job.effect.attempt))
            .collect();
        let poison: Vec<bool> = batch.iter().map(|job| job.effect.poison).collect();
        sqlx::query(
            "insert into effects (name, attempt, sound)
             select name, attempt, not poison
               from unnest($1::text[], $2::int[], $3::bool[]) as e (name, attempt, poison)",
        )
        .bind(names)
        .bind(attempts)
        .bind(poison)
        .execute(&mut *tx.conn)
        .await?;
        for job in batch.iter().filter(|job| job.effect.follow_up) {
            tx.jobs.push(NewJob::new(
                MORE,
                lane(1),
                &Act {
                    sleep_ms: job.effect.follow_up_sleep_ms,
                    ..act(&format!("after {}", job.effect.name))
                },
            ));
        }
        Ok(())
    }
}

/// What a handler returns that could not reach the database.
#[derive(Debug)]
struct Outage;

impl std::fmt::Display for Outage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the database is away")
    }
}

impl std::error::Error for Outage {}

#[derive(Clone, Default)]
pub(crate) struct Observed {
    pub(crate) started: Arc<AtomicU32>,
    pub(crate) running: Arc<AtomicU32>,
    pub(crate) most_running: Arc<AtomicU32>,
    /// Checkpoints that were refused.
    pub(crate) refused: Arc<AtomicU32>,
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
        tokio::time::sleep(Duration::from_millis(mark.sleep_ms)).await;
    }
    tokio::time::sleep(Duration::from_millis(act.sleep_ms)).await;
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

pub(crate) fn lane(n: u128) -> Lane {
    Lane(Uuid::from_u128(n))
}

/// Everything fast enough for a test: leases of a second, sweeps ten times a second.
pub(crate) fn quick() -> Config {
    Config {
        lease: Duration::from_secs(1),
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
        Self::start_with(pool, config, settings, 16, Duration::from_secs(10))
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

    /// Stops in order: workers first, then the queue.
    pub(crate) async fn stop(self) {
        self.monitor.shutdown().expect("a shutdown");
        self.workers.await.expect("the monitor");
        self.queue.close(Duration::from_secs(5)).await;
    }

    /// Stops the workers, and leaves the queue open.
    pub(crate) async fn stop_workers(self) {
        self.monitor.shutdown().expect("a shutdown");
        self.workers.await.expect("the monitor");
    }

    /// Drops the workers with whatever they run, as at the end of a grace.
    pub(crate) async fn abandon(self) {
        self.workers.abort();
        let _ = self.workers.await;
        self.queue.close(Duration::from_secs(5)).await;
    }

    pub(crate) fn started(&self) -> u32 {
        self.seen.started.load(SeqCst)
    }
}

pub(crate) async fn prepare(pool: &PgPool) {
    sqlx::raw_sql(
        "create table effects (
             name text not null,
             attempt int not null,
             sound bool not null constraint effects_sound check (sound)
         );
         create table obituaries (name text not null, cause text not null)",
    )
    .execute(pool)
    .await
    .unwrap();
}

pub(crate) async fn enqueue(pool: &PgPool, jobs: impl IntoIterator<Item = NewJob>) -> NewJobs {
    let jobs: NewJobs = jobs.into_iter().collect();
    queue::enqueue(&mut pool.acquire().await.unwrap(), &jobs)
        .await
        .unwrap();
    jobs
}

pub(crate) fn job(act: &Act) -> NewJob {
    NewJob::new(WORK, lane(1), act)
}

/// Waits until a query that gives a boolean gives true.
pub(crate) async fn until(pool: &PgPool, condition: &'static str) {
    let deadline = Instant::now() + Duration::from_secs(8);
    loop {
        let holds: Option<bool> = sqlx::query_scalar(condition).fetch_one(pool).await.unwrap();
        if holds == Some(true) {
            return;
        }
        if Instant::now() > deadline {
            let jobs: Vec<String> =
                sqlx::query_scalar("select row_to_json(j)::text from queue.jobs j limit 5")
                    .fetch_all(pool)
                    .await
                    .unwrap();
            panic!("never came true: {condition}; jobs: {jobs:#?}");
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub(crate) async fn until_idle(pool: &PgPool) {
    until(pool, "select not exists (select from queue.jobs)").await;
}

pub(crate) async fn count(pool: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(pool).await.unwrap()
}

pub(crate) async fn names(pool: &PgPool, query: &'static str) -> Vec<String> {
    sqlx::query_scalar(query).fetch_all(pool).await.unwrap()
}
