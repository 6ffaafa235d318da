//! The apalis workers of Gatehouse: images, analysis, rules, webhooks, backtests, recoveries,
//! imports and scans of hash lists, statistics, decisions of people, erasures, closures and removals. Each step loads what its job names and works outside of any
//! transaction. It returns an effect, which the queue applies when it finishes the job.

pub mod analysis;
mod backtests;
mod chains;
mod created_event;
pub mod decode_pool;
mod findings;
mod hash_lists;
mod hash_scans;
mod images;
mod job_retries;
mod judging_slots;
pub mod outbound;
pub mod provider;
mod queue_workers;
mod removals;
mod reviews;
mod rule_group_cache;
mod rule_pool;
mod rules;
pub mod tls;
mod trace_span;
pub mod webhooks;

use std::{
    error::Error,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use apalis::prelude::{BoxDynError, Monitor, MonitorError};
use database::{Clock, Trouble};
use queue::{Bottleneck, Queue, QueueName};
use store::{PgPool, encryption::MasterKey, item_worker, jobs, verdict_waiters::VerdictWaiters};
use telemetry::{failed, over};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tracing::warn;
use uuid::Uuid;

pub use crate::rule_group_cache::RuleSettings;
use crate::{
    decode_pool::DecodePool,
    hash_lists::HashLists,
    outbound::Outbound,
    provider::{ConfiguredProviders, Providers},
    queue_workers::QueueWorkers,
    rule_group_cache::RuleGroupCache,
    rule_pool::RulePool,
};

/// What the workers of a process share.
pub struct Context {
    /// The database.
    pub pool: PgPool,
    /// This process's part of the queue.
    pub queue: Queue,
    /// Decrypts the webhook secrets.
    pub master_key: MasterKey,
    /// The providers that score texts and images.
    pub providers: Providers,
    /// How long an item waits, from its acceptance, for a provider that is paused. Then the site's `on_failure` decides.
    pub patience: Duration,
    /// The most answers of providers that are kept for each team, for equal texts. 0 keeps none.
    pub answers_per_team: u32,
    /// The only way out to addresses that tenants chose.
    pub outbound: Outbound,
    /// The time in the signatures of webhooks.
    pub clock: Clock,
    /// Requests that wait for verdicts.
    pub awaited: VerdictWaiters,
    /// The bounds of compiled rule groups.
    pub rules: RuleSettings,
    /// The bounds of animations.
    pub animations: picture::AnimationSettings,
}

/// Which queues a process works on, and how much at once.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The queues.
    pub queues: Vec<QueueName>,
    /// Jobs of each queue that run at the same time.
    pub concurrency: usize,
    /// How long running jobs may continue after the shutdown began.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            queues: jobs::ALL.to_vec(),
            concurrency: 64,
            grace: Duration::from_secs(20),
        }
    }
}

/// Works until `shutdown`. Then running jobs finish, and the others go back to the queue.
pub async fn run(
    context: Context,
    settings: Settings,
    shutdown: CancellationToken,
) -> Result<(), MonitorError> {
    let (pool, queue) = (&context.pool, &context.queue);
    let waits = queue.waits(jobs::ANALYSIS, Bottleneck::ProviderLimit);
    let registry = Arc::new(ConfiguredProviders::new(
        &context.providers,
        pool.clone(),
        waits,
    ));
    let analyses = settings.queues.contains(&jobs::ANALYSIS);
    let _telling = analyses.then(|| {
        let registry = Arc::clone(&registry);
        AbortOnDropHandle::new(tokio::spawn(async move { registry.tell().await }))
    });
    let costs = Arc::clone(&registry);
    let items = settings.queues.iter().copied();
    let items: Vec<_> = items
        .filter(|queue| [jobs::ANALYSIS, jobs::RULES].contains(queue))
        .collect();
    let _announcing = (!items.is_empty()).then(|| {
        let announcing = announce(pool.clone(), queue.worker_id(), items, shutdown.clone());
        AbortOnDropHandle::new(tokio::spawn(announcing))
    });
    let statistics = settings.queues.contains(&jobs::STATISTICS);
    let _statistics = statistics.then(|| {
        let beginning = chains::begin_statistics(pool.clone(), queue.clone());
        AbortOnDropHandle::new(tokio::spawn(beginning))
    });
    let steps = QueueWorkers {
        rule_pool: RulePool::new(RuleGroupCache::new(pool.clone(), context.rules)),
        lists: HashLists::new(pool.clone()),
        decode_pool: DecodePool::new(context.animations),
        concurrency: settings.concurrency,
        stopping: shutdown.clone(),
        judges_at_once: settings.queues.contains(&jobs::RULES),
        registry,
        context,
    };
    let monitor = Monitor::new().shutdown_timeout(settings.grace);
    let monitor = settings
        .queues
        .into_iter()
        .fold(monitor, |monitor, queue| steps.register(queue, monitor));
    let signal = async move {
        shutdown.cancelled().await;
        io::Result::Ok(())
    };
    let ended = monitor.run_with_signal(signal).await;
    costs.store_costs().await;
    ended
}

/// Tells the API processes that this process works on these queues, until it stops.
async fn announce(pool: PgPool, worker: Uuid, queues: Vec<QueueName>, stop: CancellationToken) {
    let telling = async {
        let mut ticks = interval(item_worker::RENEWAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let trouble = Trouble::in_turn();
        loop {
            ticks.tick().await;
            match item_worker::tell(&pool, worker, &queues).await {
                Ok(()) => over!(
                    trouble.worked(),
                    "this process is registered as a worker for items again"
                ),
                Err(error) => failed!(
                    trouble.failed(&error),
                    %error,
                    "could not register this process as a worker for items; trying again"
                ),
            }
        }
    };
    stop.run_until_cancelled(telling).await;
    if let Err(error) = item_worker::take_back(&pool, worker).await {
        warn!(%error, "could not unregister this process as a worker for items; others notice this a little later");
    }
}

/// Locks a mutex whose holders never panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it is locked, so the value is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the database caused a handler's error, and not the job.
pub(crate) fn is_outage(error: &BoxDynError) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<store::Error>() {
            return error.is_outage();
        }
        cause = error.source();
    }
    false
}
