//! The process's handle on the queue: it opens the queue, starts its tasks, and closes it.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde::de::DeserializeOwned;
use sqlx::PgPool;
use tokio::time::timeout;
use tracing::{info, warn};
use uuid::Uuid;

use crate::{
    BackendSettings, Bottleneck, Config, LaneBackend, NewJobs, Process, QueueName, Reservation,
    SettingsError, Waits, dead_letter, dedicated_connection::DedicatedConnection, finisher,
    heartbeat, housekeeping, metrics, notify, orphans, sampler, shared::Shared,
};

/// The queue, as one process sees it. Open one per process; clones share it.
///
/// Opening starts tasks that live until [`close`](Self::close): the heartbeat, the finishers,
/// housekeeping, dead letters and the wake-ups. They survive every database error.
///
/// The pool serves sweeps. Besides, the queue keeps connections of its own: one for heartbeats, one
/// that listens, one for each finisher, and some for [claims](Self::claims).
#[derive(Clone, Debug)]
pub struct Queue(Arc<Shared>);

impl Queue {
    /// Opens the queue as a new worker. Needs a tokio runtime. The schema must exist
    /// ([`MIGRATOR`](crate::MIGRATOR)). If the database is away, the queue waits for it.
    ///
    /// # Errors
    /// Settings that are not valid.
    pub fn open(pool: PgPool, config: Config) -> Result<Self, SettingsError> {
        Self::open_as(pool, config, Process::default())
    }

    /// The same for a process that has a name.
    ///
    /// # Errors
    /// Settings that are not valid.
    pub fn open_as(pool: PgPool, config: Config, process: Process) -> Result<Self, SettingsError> {
        let queue = Self::open_later(pool, config, process)?;
        queue.begin();
        Ok(queue)
    }

    /// The same for a process that may start before the schema exists. Nothing is asked of the
    /// database until [`begin`](Self::begin): statements about tables that are missing would only
    /// fill the logs of both.
    ///
    /// # Errors
    /// Settings that are not valid.
    pub fn open_later(
        pool: PgPool,
        config: Config,
        process: Process,
    ) -> Result<Self, SettingsError> {
        config.check()?;
        metrics::describe();
        config.queues.iter().copied().for_each(metrics::expect_none);
        let shared = Arc::new(Shared::new(pool, config, process));
        for _ in 0..config.finishers {
            shared.spawn(&shared.finishers, "finisher", finisher::run);
        }
        shared.spawn(&shared.helpers, "heartbeat", heartbeat::run);
        shared.spawn(&shared.helpers, "housekeeping", housekeeping::run);
        shared.spawn(&shared.helpers, "strays", orphans::run);
        shared.spawn(&shared.helpers, "burials", dead_letter::run);
        shared.spawn(&shared.helpers, "backlog", sampler::watch_unrecorded);
        shared.spawn(&shared.helpers, "bounds", sampler::watch_bottlenecks);
        shared.spawn(&shared.helpers, "notifier", notify::run_notifier);
        shared.spawn(&shared.helpers, "listener", notify::run_listener);
        Ok(Self(shared))
    }

    /// The pool that nothing but claims takes connections from. It must be led to the server that
    /// can write, like the pool that the queue was opened with.
    pub fn claims(&self) -> &PgPool {
        &self.0.claims
    }

    /// The schema exists: the queue's tasks may begin.
    pub fn begin(&self) {
        self.0.begun.cancel();
    }

    /// Waits until the schema exists.
    pub async fn begun(&self) {
        self.0.begun.cancelled().await;
    }

    /// Opens the queue for a process that runs no jobs, such as a command. It wakes the workers of
    /// other processes. It does not register as a worker and claims nothing. Needs a tokio runtime.
    pub fn open_to_notify(pool: PgPool) -> Self {
        let shared = Arc::new(Shared::new(pool, Config::default(), Process::default()));
        shared.begun.cancel();
        shared.spawn(&shared.helpers, "notifier", notify::run_notifier);
        Self(shared)
    }

    /// A backend for an apalis worker on one queue, whose jobs carry `Args` as JSON.
    ///
    /// You may build any number of them, in any number of processes. Build the worker with
    /// `.concurrency(n)` and `.timeout(d)`. Do not add `.retry()`, which would sleep in the job's
    /// slot, or `.catch_panic()`, which makes the first panic final: the queue catches panics
    /// itself and counts each as a failed attempt.
    ///
    /// # Panics
    /// If [`BackendSettings::check`] refuses the settings. Call it first for settings that come
    /// from outside.
    pub fn backend<Args>(&self, settings: BackendSettings) -> LaneBackend<Args>
    where
        Args: DeserializeOwned + Send + 'static,
    {
        if let Err(refused) = settings.check() {
            panic!("{refused}");
        }
        metrics::expect_none(settings.queue());
        self.0.know(settings);
        LaneBackend::new(self.0.clone(), settings)
    }

    /// Says that jobs of these queues are due. Wakes this process's workers now, and those of other
    /// processes within milliseconds. Call it after the commit. It is cheap and never fails: if a
    /// wake-up is lost, the poll finds the jobs.
    pub fn wake(&self, queues: impl IntoIterator<Item = QueueName>) {
        self.0
            .local_wakeups
            .wake(queues.into_iter().map(QueueName::as_str));
    }

    /// Says that these jobs are enqueued and committed. Counts them, and wakes the queues of due
    /// ones.
    pub fn enqueued(&self, jobs: &NewJobs) {
        self.0.enqueued(jobs.due());
    }

    /// Reserves room in this process's own workers for jobs that are about to be enqueued, so that these are inserted as already claimed and start without a claim. This is
    /// for processes that also work. In other processes, there is no room, and the jobs are
    /// enqueued as usual.
    ///
    /// Call the SQL function `queue.enqueue_held` instead of `queue.enqueue` within your own
    /// statement, for all or some of the jobs. After the commit, pass on what it answered:
    ///
    /// ```no_run
    /// # async fn f(queue: &queue::Queue, conn: &mut sqlx::PgConnection, jobs: queue::NewJobs) -> Result<(), sqlx::Error> {
    /// let reservation = queue.reserve(&jobs);
    /// let (columns, held) = (jobs.columns()?, reservation.columns());
    /// let (places, ids): (Vec<i32>, Vec<Option<i64>>) = sqlx::query_as(
    ///     "with admitted as (
    ///          select *
    ///            from unnest($2::int[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::smallint[], $8::smallint[],
    ///                        $9::bigint[], $10::smallint[], $11::bool[], $12::int[], $13::int[])
    ///                 as j (place, queue, grp, lane, payload, format, priority, delay_ms, max_attempts, wanted,
    ///                       group_cap, lane_cap)
    ///           where place % 2 = 0
    ///      )
    ///      select e.places, e.ids
    ///        from (select array_agg(place) as places, array_agg(queue) as queues, array_agg(grp) as groups,
    ///                     array_agg(lane) as lanes, array_agg(payload) as payloads, array_agg(format) as formats,
    ///                     array_agg(priority) as priorities, array_agg(delay_ms) as delays_ms,
    ///                     array_agg(max_attempts) as max_attempts, array_agg(wanted) as wanted,
    ///                     array_agg(group_cap) as group_caps, array_agg(lane_cap) as lane_caps
    ///                from admitted) a
    ///       cross join lateral queue.enqueue_held($1, a.places, a.queues, a.groups, a.lanes, a.payloads, a.formats,
    ///                                             a.priorities, a.delays_ms, a.max_attempts, a.wanted, a.group_caps,
    ///                                             a.lane_caps) e",
    /// )
    /// .bind(held.worker)
    /// .bind(held.places)
    /// .bind(columns.queues)
    /// .bind(columns.groups)
    /// .bind(columns.lanes)
    /// .bind(columns.payloads)
    /// .bind(columns.formats)
    /// .bind(columns.priorities)
    /// .bind(columns.delays_ms)
    /// .bind(columns.max_attempts)
    /// .bind(held.wanted)
    /// .bind(held.group_caps)
    /// .bind(held.lane_caps)
    /// .fetch_one(conn)
    /// .await?;
    /// // Here a statement alone is a transaction. Otherwise: after the commit.
    /// reservation.committed(&jobs, &places, &ids);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Reservation::committed`] replaces [`enqueued`](Self::enqueued). Drop the reservation if nothing was
    /// committed. If that is unknown, because the answer was lost, drop it, too: the sweep for
    /// orphans releases committed jobs within twice [`Config::deadline`].
    ///
    /// Ask right before the statement, because places in the workers' buffers are reserved until
    /// then.
    pub fn reserve(&self, jobs: &NewJobs) -> Reservation {
        Reservation::new(self.0.clone(), jobs)
    }

    /// For handlers: says that jobs of this queue wait for something that the queue does not see.
    /// The metric of what holds a queue back and [`workers::living`](crate::workers::living) show
    /// it.
    pub fn waits(&self, queue: QueueName, bound: Bottleneck) -> Waits {
        self.0.waits.of(queue, bound)
    }

    #[cfg(test)]
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.0
    }

    /// Whether this process reports on the database for all, besides publishing the depth of the
    /// queues: it is one of the two oldest that are alive. It stays one while the database is away.
    pub fn reports(&self) -> bool {
        self.0.reports.load(Ordering::Relaxed)
    }

    /// This process's id in `queue.workers` and in `locked_by`.
    pub fn worker_id(&self) -> Uuid {
        self.0.worker
    }

    /// Closes the queue. Stop the apalis workers first: each waits for its running jobs, returns
    /// the jobs that it had not started, uncharged, and waits until everything is in the database.
    ///
    /// If workers were dropped instead, this returns what they left. Then it writes outcomes for at
    /// most `grace`, and removes the worker's row. Other workers may rescue the jobs that still run
    /// after that at once, and their outcomes here are refused.
    pub async fn close(&self, grace: Duration) {
        let shared = &self.0;
        if !shared.begun.is_cancelled() {
            // It has claimed nothing and has no row.
            shared.stopping.cancel();
            return;
        }
        shared.claiming.cancel();
        shared.claimers.close();
        shared.finishers.close();
        shared.helpers.close();
        let drained = timeout(grace, async {
            shared.claimers.wait().await;
            shared.draining.cancel();
            shared.finishers.wait().await;
        })
        .await
        .is_ok();
        shared.draining.cancel();
        shared.stopping.cancel();
        let ended = timeout(shared.config.deadline, async {
            shared.finishers.wait().await;
            shared.helpers.wait().await;
            shared.inbox.close().await;
            let mut connection = DedicatedConnection::new(&shared.pool);
            heartbeat::surrender(connection.get().await?, shared.worker).await
        })
        .await;
        // A claim that hangs must not keep the process from ending.
        let _ = timeout(shared.config.deadline, shared.claims.close()).await;
        if drained && matches!(ended, Ok(Ok(()))) {
            info!(worker = %shared.worker, "the queue is closed");
        } else {
            warn!(worker = %shared.worker, "the queue was closed before everything was written; \
                other workers take over the remaining jobs when the lease ends");
        }
    }
}
