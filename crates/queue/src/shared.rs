//! What the tasks of an open queue share.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use database::Trouble;
use sqlx::PgPool;
use tokio::sync::Notify;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

use crate::{
    BackendSettings, Config, Process, QueueName,
    bottleneck::{self, AllWaits},
    in_flight::InFlightJobs,
    inbox::Inbox,
    lease::Lease,
    local_wakeups::LocalWakeups,
    local_workers::LocalWorkers,
    lock::lock,
    metrics,
    supervise::supervise,
};

/// The state of an open queue.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) pool: PgPool,
    /// For claims only, so that they never wait behind handlers that hold every connection.
    pub(crate) claims: PgPool,
    pub(crate) config: Config,
    /// New at every start, so that a restarted process is another worker.
    pub(crate) worker: Uuid,
    /// What people call it.
    pub(crate) process: Process,
    pub(crate) lease: Lease,
    pub(crate) in_flight_jobs: Arc<InFlightJobs>,
    pub(crate) inbox: Inbox,
    pub(crate) local_wakeups: LocalWakeups,
    pub(crate) attempts: Attempts,
    /// This process is one of the two that report for all.
    pub(crate) reports: AtomicBool,
    /// Signals that jobs are doomed.
    pub(crate) doomed: Notify,
    /// Cancelled when the tasks may begin: the schema is there.
    pub(crate) begun: CancellationToken,
    /// Cancelled when claiming must stop.
    pub(crate) claiming: CancellationToken,
    /// Cancelled when finishers must end as soon as nothing is left to finish.
    pub(crate) draining: CancellationToken,
    /// Cancelled when everything must end, whatever is left.
    pub(crate) stopping: CancellationToken,
    pub(crate) claimers: TaskTracker,
    pub(crate) finishers: TaskTracker,
    pub(crate) helpers: TaskTracker,
    /// The queues that this process works on.
    known: Mutex<HashMap<&'static str, BackendSettings>>,
    /// The workers that take new jobs at once.
    pub(crate) local_workers: LocalWorkers,
    /// What handlers say about what their jobs wait for.
    pub(crate) waits: AllWaits,
    /// What held the queues back lately, for the others: the newest report.
    pub(crate) bounds: Mutex<String>,
}

impl Shared {
    pub(crate) fn new(pool: PgPool, config: Config, process: Process) -> Self {
        Self {
            claims: database::separate_pool(&pool, config.claim_connections),
            pool,
            config,
            worker: Uuid::now_v7(),
            process: process.bounded(),
            lease: Lease::new(config.lease),
            in_flight_jobs: Arc::default(),
            inbox: Inbox::new(config.finish_batch.saturating_mul(2)),
            local_wakeups: LocalWakeups::default(),
            attempts: Attempts::default(),
            reports: AtomicBool::new(false),
            doomed: Notify::new(),
            begun: CancellationToken::new(),
            claiming: CancellationToken::new(),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            claimers: TaskTracker::new(),
            finishers: TaskTracker::new(),
            helpers: TaskTracker::new(),
            known: Mutex::default(),
            local_workers: LocalWorkers::default(),
            waits: AllWaits::default(),
            bounds: Mutex::new(bottleneck::NOTHING.to_owned()),
        }
    }

    /// Registers a queue that this process works on.
    pub(crate) fn know(&self, settings: BackendSettings) {
        lock(&self.known).insert(settings.queue().as_str(), settings);
    }

    /// Counts jobs that were enqueued and committed, and wakes the queues of those that wait for a
    /// claim now. `jobs` are their queues, and whether they do.
    pub(crate) fn enqueued(&self, jobs: impl Iterator<Item = (&'static str, bool)>) {
        let mut queues: BTreeMap<&'static str, (u64, bool)> = BTreeMap::new();
        for (queue, waits) in jobs {
            let (count, any_waits) = queues.entry(queue).or_default();
            *count += 1;
            *any_waits |= waits;
        }
        for (queue, &(count, _)) in &queues {
            metrics::enqueued(queue, count);
        }
        let waiting = queues.into_iter().filter(|(_, (_, waits))| *waits);
        self.local_wakeups.wake(waiting.map(|(queue, _)| queue));
    }

    /// Wakes the workers of a queue whose jobs are due again, if this process knows the queue.
    pub(crate) fn wake_if_known(&self, queue: &str) {
        if let Some(settings) = self.known(queue) {
            self.local_wakeups.wake([settings.queue().as_str()]);
        }
    }

    /// The same for every queue that this process knows.
    pub(crate) fn wake_all_known(&self) {
        self.local_wakeups
            .wake(self.known_queues().into_iter().map(QueueName::as_str));
    }

    /// Sleeps. Returns true if the queue closes in the meantime.
    pub(crate) async fn pause(&self, duration: Duration) -> bool {
        tokio::select! {
            () = self.stopping.cancelled() => true,
            () = tokio::time::sleep(duration) => false,
        }
    }

    /// The settings of a queue that this process works on.
    pub(crate) fn known(&self, queue: &str) -> Option<BackendSettings> {
        lock(&self.known).get(queue).copied()
    }

    /// The queues that this process works on.
    pub(crate) fn known_queues(&self) -> Vec<QueueName> {
        lock(&self.known)
            .values()
            .map(BackendSettings::queue)
            .collect()
    }

    /// Starts a task once the queue has begun, and starts it again whenever it panics.
    pub(crate) fn spawn<F>(
        self: &Arc<Self>,
        tracker: &TaskTracker,
        name: &'static str,
        task: fn(Arc<Self>) -> F,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let shared = self.clone();
        tracker.spawn(async move {
            tokio::select! {
                () = shared.stopping.cancelled() => return,
                () = shared.begun.cancelled() => {}
            }
            supervise(name, move || task(shared.clone())).await;
        });
    }
}

/// The attempts that fail, by queue. While many jobs fail for one reason, one line says so for all
/// of them.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<BTreeMap<QueueName, Arc<Trouble>>>);

impl Attempts {
    pub(crate) fn of(&self, queue: QueueName) -> Arc<Trouble> {
        let mut all = lock(&self.0);
        let trouble = all.entry(queue);
        Arc::clone(trouble.or_insert_with(|| Arc::new(Trouble::at_once())))
    }
}
