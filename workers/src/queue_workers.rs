//! Which step works on which queue, and with what bounds.

use std::sync::Arc;

use apalis::prelude::{Monitor, ParallelizeExt as _, WorkerBuilder, WorkerBuilderExt as _};
use metrics::gauge;
use queue::{BackendSettings, QueueName};
use store::{
    analysis::AnalysisDied,
    chain::{Chain, Died},
    delivery::DeliveryDied,
    image::ExaminationDied,
    jobs::{self, DeliveryJob, MediaJob, RemovalJob, ReviewJob},
    review::ReviewDied,
    verdict::JudgementDied,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Context,
    analysis::{self, Analyst},
    backtests::Replayer,
    chains::{ChainWorker, Closer, Decider, Eraser, Importer, Recoverer, Summer, slice},
    decode_pool::DecodePool,
    hash_lists::HashLists,
    hash_scans::Scanner,
    images::{self, Examiner},
    is_outage,
    job_retries::{RETRY, RUN_DEADLINE},
    provider::ConfiguredProviders,
    removals, reviews,
    rule_pool::RulePool,
    rules::{self, Judge, Verdicts},
    webhooks::{self, Courier},
};

/// Pages that are sent at the same time, for each job of another queue. Pages that wait for a slow
/// receiver do not count.
const PAGES_PER_JOB: usize = 2;

/// The most pages that are claimed ahead: up to half a second's work.
const PAGES_AHEAD: usize = 256;

/// Slices of each chain that a process does at once. A slice uses a processor for most of its time,
/// and new items are more urgent.
const SLICES: usize = 1;

/// What the steps of a process share.
pub(crate) struct QueueWorkers {
    pub(crate) context: Context,
    pub(crate) registry: Arc<ConfiguredProviders>,
    pub(crate) rule_pool: RulePool,
    pub(crate) lists: HashLists,
    pub(crate) decode_pool: DecodePool,
    /// Jobs of each queue that run at the same time.
    pub(crate) concurrency: usize,
    /// The process is about to end.
    pub(crate) stopping: CancellationToken,
    /// Whether an item is judged in the run of its analysis: only where the process works on the rules anyway.
    pub(crate) judges_at_once: bool,
}

/// Registers the step of a queue whose jobs do not depend on each other.
macro_rules! step {
    ($self:ident, $monitor:ident, $backend:expr, $job:ty, $deadline:expr, [$($data:ident),+], $handler:path) => {{
        let (queue, concurrency) = ($self.context.queue.clone(), $self.concurrency);
        let backend = $backend.slots(concurrency).retry(RETRY);
        Self::offer(backend.queue(), concurrency);
        $monitor.register(move |_| {
            WorkerBuilder::new(backend.queue().as_str())
                .backend(queue.backend::<$job>(backend))
                $(.data($data.clone()))+
                .concurrency(concurrency)
                .timeout($deadline)
                .parallelize(tokio::spawn)
                .build($handler)
        })
    }};
}

impl QueueWorkers {
    /// Registers the step of a queue with the monitor.
    pub(crate) fn register(&self, queue: QueueName, monitor: Monitor) -> Monitor {
        let (pool, master_key) = (self.context.pool.clone(), self.context.master_key.clone());
        match queue {
            jobs::IMAGES => self.images(monitor),
            jobs::ANALYSIS => self.analysis(monitor),
            jobs::RULES => self.rules(monitor),
            jobs::WEBHOOKS => self.webhooks(monitor),
            jobs::BACKTESTS => self.chain(monitor, Replayer::new(pool, self.rule_pool.clone())),
            jobs::HASH_IMPORTS => self.chain(monitor, Importer(pool)),
            jobs::HASH_SCANS => self.chain(monitor, Scanner::new(pool, self.lists.clone())),
            jobs::RECOVERIES => self.chain(monitor, Recoverer(pool)),
            jobs::STATISTICS => self.chain(monitor, Summer(pool)),
            jobs::REVIEWS => self.reviews(monitor),
            jobs::BULK_DECISIONS => self.chain(monitor, Decider(pool)),
            jobs::ERASURES => self.chain(monitor, Eraser(pool, master_key)),
            jobs::CLOSURES => self.chain(monitor, Closer(pool, master_key)),
            jobs::REMOVALS => self.removals(monitor),
            unknown => unreachable!("{unknown} is none of `jobs::ALL`"),
        }
    }

    /// Verdicts for the jobs of one queue. Each queue has its own, so that a team whose items take
    /// long leaves slots of that queue to others.
    fn verdicts(&self) -> Verdicts {
        Verdicts::new(self.rule_pool.clone(), self.concurrency)
    }

    /// Shows how many jobs of a queue this process may run at once.
    fn offer(queue: QueueName, slots: usize) {
        #[expect(clippy::cast_precision_loss, reason = "some thousands at most")]
        gauge!("gatehouse_worker_slots", "queue" => queue.as_str()).set(slots as f64);
    }

    fn images(&self, monitor: Monitor) -> Monitor {
        let examiner = Examiner::new(
            self.context.pool.clone(),
            self.context.outbound.clone(),
            self.decode_pool.clone(),
            self.lists.clone(),
        );
        let backend = settings(jobs::IMAGES).on_dead::<ExaminationDied>();
        step!(
            self,
            monitor,
            backend,
            MediaJob,
            images::EXAMINATION_DEADLINE,
            [examiner],
            images::examine
        )
    }

    fn analysis(&self, monitor: Monitor) -> Monitor {
        let analyst = Analyst::new(
            self.context.pool.clone(),
            Arc::clone(&self.registry),
            self.rule_pool.groups().clone(),
            self.context.patience,
            self.context.answers_per_team,
            self.decode_pool.clone(),
            self.judges_at_once.then(|| self.verdicts()),
        );
        let awaited = self.context.awaited.clone();
        let backend = settings(jobs::ANALYSIS).on_dead::<AnalysisDied>();
        step!(
            self,
            monitor,
            backend,
            MediaJob,
            RUN_DEADLINE,
            [analyst, awaited],
            analysis::analyse
        )
    }

    fn rules(&self, monitor: Monitor) -> Monitor {
        let judge = Judge::new(self.context.pool.clone(), self.verdicts());
        let awaited = self.context.awaited.clone();
        let backend = settings(jobs::RULES).on_dead::<JudgementDied>();
        step!(
            self,
            monitor,
            backend,
            MediaJob,
            RUN_DEADLINE,
            [judge, awaited],
            rules::judge
        )
    }

    fn reviews(&self, monitor: Monitor) -> Monitor {
        let pool = self.context.pool.clone();
        let backend = settings(jobs::REVIEWS).on_dead::<ReviewDied>();
        step!(
            self,
            monitor,
            backend,
            ReviewJob,
            RUN_DEADLINE,
            [pool],
            reviews::tell
        )
    }

    fn removals(&self, monitor: Monitor) -> Monitor {
        let pool = self.context.pool.clone();
        let backend = settings(jobs::REMOVALS);
        step!(
            self,
            monitor,
            backend,
            RemovalJob,
            RUN_DEADLINE,
            [pool],
            removals::remove
        )
    }

    /// The step of a chain. It does one slice after another.
    fn chain<S: ChainWorker>(&self, monitor: Monitor, worker: S) -> Monitor {
        let queue = self.context.queue.clone();
        Self::offer(S::Chain::QUEUE, SLICES);
        monitor.register(move |_| {
            let backend = settings(S::Chain::QUEUE)
                .prefetch(1)
                .retry(RETRY)
                .on_dead::<Died<S::Chain>>();
            WorkerBuilder::new(S::Chain::QUEUE.as_str())
                .backend(queue.backend::<<S::Chain as Chain>::Job>(backend))
                .data(worker.clone())
                .concurrency(SLICES)
                .timeout(RUN_DEADLINE)
                .parallelize(tokio::spawn)
                .build(slice::<S>)
        })
    }

    /// As many jobs at once as there are connections. Each waiting delivery has a connection, and
    /// no team may have more than half of them. The other jobs stay in the queue.
    fn webhooks(&self, monitor: Monitor) -> Monitor {
        let courier = Courier::new(
            self.context.pool.clone(),
            self.context.master_key.clone(),
            self.context.outbound.clone(),
            self.context.clock.clone(),
            PAGES_PER_JOB * self.concurrency,
            &self.context.queue,
            self.stopping.clone(),
        );
        let (queue, slots) = (
            self.context.queue.clone(),
            self.context.outbound.connections(),
        );
        Self::offer(jobs::WEBHOOKS, slots);
        monitor.register(move |_| {
            let backend = settings(jobs::WEBHOOKS)
                .slots(slots)
                .prefetch(slots.min(PAGES_AHEAD))
                .on_dead::<DeliveryDied>();
            WorkerBuilder::new("webhooks")
                .backend(queue.backend::<DeliveryJob>(backend))
                .data(courier.clone())
                .concurrency(slots)
                .timeout(RUN_DEADLINE)
                .build(webhooks::deliver)
        })
    }
}

/// The settings that all queues share.
fn settings(queue: QueueName) -> BackendSettings {
    let backend = BackendSettings::new(queue).uncharged(is_outage);
    match jobs::LANE_CAPS.iter().find(|(name, _)| *name == queue) {
        Some(&(_, cap)) => backend.lane_cap(cap),
        None => backend,
    }
}
