//! The apalis workers of Gatehouse: analysis, rules, webhooks and backtests. Each step loads what its job names, does its work outside
//! any transaction, and returns an effect that the queue applies when it finishes the job.

pub mod analysis;
pub mod backtests;
mod groups;
pub mod outbound;
pub mod provider;
pub mod rules;
mod tls;
pub mod webhooks;

use std::{io, sync::Arc, time::Duration};

use apalis::prelude::{
    Monitor, MonitorError, ParallelizeExt as _, WorkerBuilder, WorkerBuilderExt as _,
};
use queue::{BackendSettings, Queue, QueueName, Retry};
use store::{
    PgPool,
    analysis::AnalysisDied,
    backtest::slice::ReplayDied,
    delivery::DeliveryDied,
    jobs::{self, BacktestJob, DeliveryJob, MediaJob},
    seal::MasterKey,
    verdict::JudgementDied,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    analysis::Analyst,
    backtests::Replayer,
    outbound::Outbound,
    provider::{Panel, Providers},
    rules::Judge,
    webhooks::Courier,
};

/// What the workers of a process share.
pub struct Context {
    /// The database.
    pub pool: PgPool,
    /// This process's part of the queue.
    pub queue: Queue,
    /// Opens the webhook secrets.
    pub master_key: MasterKey,
    /// Who analyses.
    pub providers: Providers,
    /// How long an item waits, from its acceptance, for a provider that is paused. Then the site's `on_failure` decides.
    pub patience: Duration,
    /// The only way out to addresses that tenants chose.
    pub outbound: Outbound,
}

/// Which queues a process works on, and how much at once.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The queues.
    pub queues: Vec<QueueName>,
    /// Jobs of each queue that run at the same time.
    pub concurrency: usize,
    /// How long running jobs may go on after the shutdown began.
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

/// How long one run of a job may take; a delivery's own deadline is shorter.
pub(crate) const RUN_DEADLINE: Duration = Duration::from_mins(1);

/// Failed analyses and judgements: five attempts lie within two minutes.
pub(crate) const RETRY: Retry = Retry {
    initial: Duration::from_secs(2),
    factor: 2.0,
    max: Duration::from_secs(30),
    jitter: 0.2,
};

/// One endpoint's share of a process's delivery slots, so that a slow one leaves room for the others.
const DELIVERIES_PER_ENDPOINT: u32 = 32;

/// Slices that a process replays at once. What is submitted now goes first, and replaying is nothing but computing.
const REPLAYS: usize = 1;

/// Works until `shutdown`, then lets running jobs finish and gives the others back.
pub async fn run(
    context: Context,
    settings: Settings,
    shutdown: CancellationToken,
) -> Result<(), MonitorError> {
    let Context {
        pool,
        queue,
        master_key,
        providers,
        patience,
        outbound,
    } = context;
    let concurrency = settings.concurrency;
    let panel = Arc::new(Panel::new(&providers, pool.clone()));
    let analyses = settings.queues.contains(&jobs::ANALYSIS);
    let _telling = analyses.then(|| {
        let panel = Arc::clone(&panel);
        AbortOnDropHandle::new(tokio::spawn(async move { panel.tell().await }))
    });
    let mut monitor = Monitor::new().shutdown_timeout(settings.grace);
    for name in settings.queues {
        let queue = queue.clone();
        monitor = if name == jobs::ANALYSIS {
            let analyst = Analyst::new(pool.clone(), Arc::clone(&panel), patience);
            monitor.register(move |_| {
                let backend = BackendSettings::new(jobs::ANALYSIS)
                    .retry(RETRY)
                    .on_dead::<AnalysisDied>();
                WorkerBuilder::new("analysis")
                    .backend(queue.backend::<MediaJob>(backend))
                    .data(analyst.clone())
                    .concurrency(concurrency)
                    .timeout(RUN_DEADLINE)
                    .parallelize(tokio::spawn)
                    .build(analysis::analyse)
            })
        } else if name == jobs::RULES {
            let judge = Judge::new(pool.clone());
            monitor.register(move |_| {
                let backend = BackendSettings::new(jobs::RULES)
                    .retry(RETRY)
                    .on_dead::<JudgementDied>();
                WorkerBuilder::new("rules")
                    .backend(queue.backend::<MediaJob>(backend))
                    .data(judge.clone())
                    .concurrency(concurrency)
                    .timeout(RUN_DEADLINE)
                    .parallelize(tokio::spawn)
                    .build(rules::judge)
            })
        } else if name == jobs::BACKTESTS {
            let replayer = Replayer::new(pool.clone());
            monitor.register(move |_| {
                let backend = BackendSettings::new(jobs::BACKTESTS)
                    .prefetch(1)
                    .lane_cap(1)
                    .retry(RETRY)
                    .on_dead::<ReplayDied>();
                WorkerBuilder::new("backtests")
                    .backend(queue.backend::<BacktestJob>(backend))
                    .data(replayer.clone())
                    .concurrency(REPLAYS)
                    .timeout(RUN_DEADLINE)
                    .parallelize(tokio::spawn)
                    .build(backtests::replay)
            })
        } else {
            let courier = Courier::new(pool.clone(), master_key.clone(), outbound.clone());
            monitor.register(move |_| {
                let backend = BackendSettings::new(jobs::WEBHOOKS)
                    .lane_cap(DELIVERIES_PER_ENDPOINT)
                    .on_dead::<DeliveryDied>();
                WorkerBuilder::new("webhooks")
                    .backend(queue.backend::<DeliveryJob>(backend))
                    .data(courier.clone())
                    .concurrency(concurrency)
                    .timeout(RUN_DEADLINE)
                    .build(webhooks::deliver)
            })
        };
    }
    let signal = async move {
        shutdown.cancelled().await;
        io::Result::Ok(())
    };
    monitor.run_with_signal(signal).await
}
