//! Endurance: a steady stream of jobs is enqueued and worked on while another connection holds a
//! transaction open, so that vacuum cannot remove dead rows of the queue. Measures the effect on
//! claims, waits and sizes, and how soon everything is as before after the release. Finally every
//! job must have been done exactly once.

mod audit;
mod open_transaction;
mod sample;
mod table;
mod watch;

use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use serde::Serialize;

use self::{
    audit::Audit,
    open_transaction::{Held, Hold},
    sample::{Sample, Stretch},
    watch::{LAST, Recovery, Run},
};
use crate::{
    cluster::Role,
    driver_client::DriverClient,
    environment::{Environment, EnvironmentOptions},
    protocol::{Production, Request, Work},
    report::Machine,
};

/// One job in this number fails at its first attempt.
const FAILING: u64 = 10;
const WORK: Work = Work {
    concurrency: 64,
    prefetch: 64,
    job_ms: 5,
    effects: true,
    loops: 0,
};
/// Options of `endurance`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) environment: EnvironmentOptions,
    /// How long the transaction is held, in minutes
    #[arg(long, default_value_t = 20.0)]
    minutes: f64,
    /// Jobs a second
    #[arg(long, default_value_t = 500)]
    rate: u64,
    /// Lanes that they are spread over
    #[arg(long, default_value_t = 300)]
    lanes: u64,
    /// What is held
    #[arg(long, value_enum, default_value_t = Hold::Snapshot)]
    hold: Hold,
    /// Seconds between two samples
    #[arg(long, default_value_t = 5)]
    every: u64,
    /// Seconds before anything is held; the rest is compared with them
    #[arg(long, default_value_t = 60)]
    fresh_seconds: u64,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Endured {
    machine: Machine,
    hold: Hold,
    minutes: f64,
    rate: u64,
    lanes: u64,
    fresh: Stretch,
    /// The last minute before the release.
    during: Stretch,
    /// The second half of the minute after it.
    after: Stretch,
    recovery: Recovery,
    audit: Audit,
    samples: Vec<Sample>,
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Endured> {
    let load_before = Machine::load_before();
    let (environment, pool) = Environment::with_queue(&options.environment).await?;
    sqlx::query("create table effects (n bigint not null)")
        .execute(&pool)
        .await?;
    pool.close().await;
    let mut conn = environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let url = environment.cluster.url(Role::Gatehouse);
    let logs = environment.directory();
    let mut run = Run {
        worker: DriverClient::ours("queue", &url, &logs).await?,
        producer: DriverClient::ours("queue", &url, &logs).await?,
        conn,
        begun: Instant::now(),
        every: Duration::from_secs(options.every),
        samples: Vec::new(),
    };
    run.worker.order(Request::Work(WORK)).await?;
    let production = Production {
        rate: options.rate,
        lanes: options.lanes,
        failing: FAILING,
    };
    run.producer.order(Request::Produce(production)).await?;
    eprintln!("{}", Sample::heading());

    // The cost of starting is not measured.
    run.sample().await?;
    run.samples.clear();
    run.watch(Duration::from_secs(options.fresh_seconds))
        .await?;
    let fresh = run.stretch(Duration::from_secs(options.fresh_seconds));
    ensure!(
        fresh.claim.count > 0,
        "the worker did not say how long its claims took"
    );
    let held = Held::take(&environment.cluster, options.hold).await?;
    eprintln!("the {} is held", options.hold);
    run.watch(Duration::from_secs_f64(options.minutes * 60.0))
        .await?;
    let during = run.stretch(LAST);
    held.release().await?;
    eprintln!("the {} is released", options.hold);
    let (recovery, after) = run.recover(&fresh).await?;
    let audit = run.audit().await?;
    Ok(Endured {
        machine,
        hold: options.hold,
        minutes: options.minutes,
        rate: options.rate,
        lanes: options.lanes,
        fresh,
        during,
        after,
        recovery,
        audit,
        samples: run.samples,
    })
}
