//! Which step works on which queue, and with what bounds.

use std::{sync::Arc, time::Duration};

use apalis::prelude::{Monitor, ParallelizeExt as _, WorkerBuilder, WorkerBuilderExt as _};
use database::Clock;
use metrics::gauge;
use queue::{BackendSettings, Queue, QueueName};
use store::{
    PgPool,
    analysis::AnalysisDied,
    chain::{Chain, Died},
    delivery::DeliveryDied,
    encryption::MasterKey,
    image::ExaminationDied,
    jobs::{self, DeliveryJob, MediaJob, RemovalJob, ReviewJob},
    review::ReviewDied,
    verdict::JudgementDied,
    verdict_waiters::VerdictWaiters,
};
use tokio_util::sync::CancellationToken;

use crate::{
    RETRY, RUN_DEADLINE,
    analysis::{self, Analyst},
    backtests::Replayer,
    bulk_decisions::Decider,
    chain_worker::{ChainWorker, slice},
    closures::Closer,
    decode_pool::DecodePool,
    erasures::Eraser,
    hash_lists::{HashLists, imports::Importer, scans::Scanner},
    images::{self, Examiner},
    outage::is_outage,
    outbound::Outbound,
    provider::ConfiguredProviders,
    recoveries::Recoverer,
    removals::{self, Remover},
    reviews::{self, Teller},
    rule_pool::RulePool,
    rules::{self, Judge, Verdicts},
    statistics::Summer,
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
    pub(crate) pool: PgPool,
    pub(crate) queue: Queue,
    pub(crate) master_key: MasterKey,
    pub(crate) registry: Arc<ConfiguredProviders>,
    pub(crate) rule_pool: RulePool,
    pub(crate) lists: HashLists,
    pub(crate) decode_pool: DecodePool,
    pub(crate) outbound: Outbound,
    pub(crate) clock: Clock,
    /// Requests that wait for verdicts.
    pub(crate) awaited: VerdictWaiters,
    /// How long an item waits for a provider that is paused.
    pub(crate) patience: Duration,
    /// Answers of providers that each team may have kept for equal texts.
    pub(crate) answers_per_team: u32,
    /// Jobs of each queue that run at the same time.
    pub(crate) concurrency: usize,
    /// The process is about to end.
    pub(crate) stopping: CancellationToken,
    /// Whether an item is judged in the run of its analysis: only where the process works on the rules anyway.
    pub(crate) judges_at_once: bool,
}

impl QueueWorkers {
    /// Registers the step of a queue with the monitor.
    pub(crate) fn register(&self, queue: QueueName, monitor: Monitor) -> Monitor {
        match queue {
            jobs::IMAGES => self.images(monitor),
            jobs::ANALYSIS => self.analysis(monitor),
            jobs::RULES => self.rules(monitor),
            jobs::WEBHOOKS => self.webhooks(monitor),
            jobs::BACKTESTS => self.chain(
                monitor,
                Replayer::new(self.pool.clone(), self.rule_pool.clone()),
            ),
            jobs::HASH_IMPORTS => self.chain(monitor, Importer::new(self.pool.clone())),
            jobs::HASH_SCANS => {
                self.chain(monitor, Scanner::new(self.pool.clone(), self.lists.clone()))
            }
            jobs::RECOVERIES => self.chain(monitor, Recoverer::new(self.pool.clone())),
            jobs::STATISTICS => self.chain(monitor, Summer::new(self.pool.clone())),
            jobs::REVIEWS => self.reviews(monitor),
            jobs::BULK_DECISIONS => self.chain(monitor, Decider::new(self.pool.clone())),
            jobs::ERASURES => self.chain(
                monitor,
                Eraser::new(self.pool.clone(), self.master_key.clone()),
            ),
            jobs::CLOSURES => self.chain(
                monitor,
                Closer::new(self.pool.clone(), self.master_key.clone()),
            ),
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
        let lists = self.lists.clone();
        let examiner = Examiner::new(
            self.pool.clone(),
            self.outbound.clone(),
            self.decode_pool.clone(),
            lists,
        );
        let (queue, concurrency) = (self.queue.clone(), self.concurrency);
        Self::offer(jobs::IMAGES, concurrency);
        monitor.register(move |_| {
            let backend = settings(jobs::IMAGES)
                .slots(concurrency)
                .retry(RETRY)
                .on_dead::<ExaminationDied>();
            WorkerBuilder::new("images")
                .backend(queue.backend::<MediaJob>(backend))
                .data(examiner.clone())
                .concurrency(concurrency)
                .timeout(images::EXAMINATION_DEADLINE)
                .parallelize(tokio::spawn)
                .build(images::examine)
        })
    }

    fn analysis(&self, monitor: Monitor) -> Monitor {
        let analyst = Analyst::new(
            self.pool.clone(),
            Arc::clone(&self.registry),
            self.rule_pool.groups().clone(),
            self.patience,
            self.answers_per_team,
            self.decode_pool.clone(),
            self.judges_at_once.then(|| self.verdicts()),
        );
        let (queue, concurrency) = (self.queue.clone(), self.concurrency);
        let awaited = self.awaited.clone();
        Self::offer(jobs::ANALYSIS, concurrency);
        monitor.register(move |_| {
            let backend = settings(jobs::ANALYSIS)
                .slots(concurrency)
                .retry(RETRY)
                .on_dead::<AnalysisDied>();
            WorkerBuilder::new("analysis")
                .backend(queue.backend::<MediaJob>(backend))
                .data(analyst.clone())
                .data(awaited.clone())
                .concurrency(concurrency)
                .timeout(RUN_DEADLINE)
                .parallelize(tokio::spawn)
                .build(analysis::analyse)
        })
    }

    fn rules(&self, monitor: Monitor) -> Monitor {
        let judge = Judge::new(self.pool.clone(), self.verdicts());
        let (queue, concurrency) = (self.queue.clone(), self.concurrency);
        let awaited = self.awaited.clone();
        Self::offer(jobs::RULES, concurrency);
        monitor.register(move |_| {
            let backend = settings(jobs::RULES)
                .slots(concurrency)
                .retry(RETRY)
                .on_dead::<JudgementDied>();
            WorkerBuilder::new("rules")
                .backend(queue.backend::<MediaJob>(backend))
                .data(judge.clone())
                .data(awaited.clone())
                .concurrency(concurrency)
                .timeout(RUN_DEADLINE)
                .parallelize(tokio::spawn)
                .build(rules::judge)
        })
    }

    fn reviews(&self, monitor: Monitor) -> Monitor {
        let teller = Teller::new(self.pool.clone());
        let (queue, concurrency) = (self.queue.clone(), self.concurrency);
        Self::offer(jobs::REVIEWS, concurrency);
        monitor.register(move |_| {
            let backend = settings(jobs::REVIEWS)
                .slots(concurrency)
                .retry(RETRY)
                .on_dead::<ReviewDied>();
            WorkerBuilder::new("reviews")
                .backend(queue.backend::<ReviewJob>(backend))
                .data(teller.clone())
                .concurrency(concurrency)
                .timeout(RUN_DEADLINE)
                .parallelize(tokio::spawn)
                .build(reviews::tell)
        })
    }

    fn removals(&self, monitor: Monitor) -> Monitor {
        let remover = Remover::new(self.pool.clone());
        let (queue, concurrency) = (self.queue.clone(), self.concurrency);
        Self::offer(jobs::REMOVALS, concurrency);
        monitor.register(move |_| {
            let backend = settings(jobs::REMOVALS).slots(concurrency).retry(RETRY);
            WorkerBuilder::new("removals")
                .backend(queue.backend::<RemovalJob>(backend))
                .data(remover.clone())
                .concurrency(concurrency)
                .timeout(RUN_DEADLINE)
                .parallelize(tokio::spawn)
                .build(removals::remove)
        })
    }

    /// The step of a chain. It does one slice after another.
    fn chain<S: ChainWorker>(&self, monitor: Monitor, worker: S) -> Monitor {
        let queue = self.queue.clone();
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
            self.pool.clone(),
            self.master_key.clone(),
            self.outbound.clone(),
            self.clock.clone(),
            PAGES_PER_JOB * self.concurrency,
            &self.queue,
            self.stopping.clone(),
        );
        let (queue, slots) = (self.queue.clone(), self.outbound.connections());
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
