//! The proof that nothing is lost and nothing doubled: realistic texts go through several API and worker processes, which
//! are killed at random meanwhile, and afterwards the database, the interface and the receiver are audited.
//!
//! A submission without an answer counts as unknown and its text is submitted again as a new item: either all of the
//! unknown item exists or nothing of it.

mod audit;
mod client;
pub(crate) mod failover;
mod havoc;
mod outcome;

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use clap::Args;
use serde::Serialize;
use sqlx::Row as _;

use self::{
    client::Ledger,
    havoc::{Havoc, Plan},
    outcome::Outcome,
};
use crate::{
    cluster::Cluster,
    load::Ticks,
    receiver::Manners,
    report::{Line, Machine, Report},
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
};

const PROGRESS: Duration = Duration::from_secs(5);

/// Options of `chaos`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Texts to submit
    #[arg(long, default_value_t = 20_000)]
    items: u64,
    /// Submissions a second
    #[arg(long, default_value_t = 250.0)]
    rate: f64,
    /// Connections that submit
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// API processes, of which one at a time is killed
    #[arg(long, default_value_t = 2)]
    apis: usize,
    /// Worker processes, of which one at a time is killed
    #[arg(long, default_value_t = 3)]
    workers: usize,
    /// Sites, two to a team
    #[arg(long, default_value_t = 6)]
    sites: usize,
    /// How long a worker may be silent before its jobs go to others, in seconds
    #[arg(long, default_value_t = 5)]
    lease_seconds: u64,
    /// The share of webhooks that the receiver answers with a 500
    #[arg(long, default_value_t = 0.01)]
    failing: f64,
    /// Restart Postgres in the middle, too, in the modes fast and immediate by turns
    #[arg(long)]
    restart_postgres: bool,
    /// Kill the receiver of webhooks, too, and revive it after up to 15 seconds, all the time
    #[arg(long)]
    kill_receiver: bool,
    /// How long everything may take to come to rest after the last submission, in seconds
    #[arg(long, default_value_t = 300)]
    patience_seconds: u64,
}

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Proof {
    #[serde(flatten)]
    outcome: Outcome,
    havoc: Havoc,
    /// Requests that the receiver answered with a 500.
    webhooks_refused: u64,
    /// Webhooks that came once more, which is allowed.
    webhooks_repeated: u64,
}

impl Proof {
    /// Whether every check holds.
    pub(crate) fn holds(&self) -> bool {
        self.outcome.holds()
    }
}

/// Runs the proof.
///
/// # Errors
/// It could not be carried out. A proof that fails is no error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Proof> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let shape = Shape {
        apis: options.apis,
        workers: options.workers,
        tenants: Tenants {
            sites: options.sites,
            sites_per_team: 2,
        },
        lease_seconds: options.lease_seconds,
        manners: Manners {
            failing: options.failing,
            mortal: options.kill_receiver,
            ..Manners::default()
        },
    };
    let mut stack = Stack::start(&options.common, shape, seed).await?;
    match prove(&options, &mut stack, seed, load_before).await {
        Ok(proof) if proof.holds() => Ok(proof),
        failed => {
            eprintln!(
                "database and logs are kept in {}",
                stack.ground.keep().display()
            );
            failed
        }
    }
}

async fn prove(
    options: &Options,
    stack: &mut Stack,
    seed: u64,
    load_before: f64,
) -> anyhow::Result<Proof> {
    let machine =
        Machine::describe(&mut stack.ground.cluster.connect().await?, load_before).await?;
    let ledger = RefCell::new(Ledger::default());
    let finished = Cell::new(false);
    let plan = Plan {
        seed,
        items: options.items,
        restart_postgres: options.restart_postgres,
    };
    let customers = client::Customers {
        apis: stack.apis.iter().map(|api| api.address).collect(),
        sites: stack.sites.clone(),
        seed,
        connections: options.connections,
        // What they send goes to dead processes, too.
        ready: RefCell::new(vec![true; stack.apis.len()]),
    };
    let ticks = Ticks::start(options.rate, options.items);
    let submitting = async {
        let submitted = customers.submit(&ticks, &ledger).await;
        finished.set(true);
        submitted
    };
    let reporting = async {
        while !finished.get() {
            tokio::time::sleep(PROGRESS).await;
            let Ledger {
                accepted, unknown, ..
            } = &*ledger.borrow();
            eprintln!(
                "{} of {} accepted, {} unknown",
                accepted.len(),
                options.items,
                unknown.len()
            );
        }
        anyhow::Ok(())
    };
    let mut relay = stack.relay.take();
    let wreaking = havoc::wreak(stack, plan, &ledger, &finished);
    let toppling = havoc::topple(relay.as_mut(), seed, &finished);
    let ((), (), mut havoc, receivers_killed) =
        tokio::try_join!(submitting, reporting, wreaking, toppling)?;
    havoc.receivers_killed = receivers_killed;
    stack.relay = relay;
    let ledger = ledger.into_inner();

    let (drained, rest) = drain(
        stack,
        &mut havoc,
        Duration::from_secs(options.patience_seconds),
    )
    .await?;
    let mut audit = audit::Audit::begin(stack, &ledger, &customers).await?;
    audit.expect("everything came to rest in time", rest);
    audit.expect("no process ended by itself", havoc.deaths.iter().cloned());
    audit.run().await?;

    let received = stack.receiver.seen();
    Ok(Proof {
        outcome: Outcome::of(audit, &ledger, machine, seed, drained),
        webhooks_refused: received.refused,
        webhooks_repeated: received
            .arrivals
            .values()
            .map(|arrival| u64::from(arrival.times - 1))
            .sum(),
        havoc,
    })
}

/// Waits until nothing is left to do, and tells how long that took and what is left when it takes too long.
async fn drain(
    stack: &mut Stack,
    havoc: &mut Havoc,
    patience: Duration,
) -> anyhow::Result<(Duration, Option<String>)> {
    let start = Instant::now();
    let mut told = start;
    loop {
        let left = left(&stack.ground.cluster).await?;
        havoc.watch(stack).await?;
        if left.pending == 0 && left.jobs == 0 {
            return Ok((start.elapsed(), None));
        }
        let words = format!(
            "{} items are pending, {} jobs are left",
            left.pending, left.jobs
        );
        if start.elapsed() > patience {
            return Ok((start.elapsed(), Some(words)));
        }
        if told.elapsed() > PROGRESS {
            told = Instant::now();
            eprintln!("{words}");
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

struct Left {
    pending: i64,
    jobs: i64,
}

async fn left(cluster: &Cluster) -> anyhow::Result<Left> {
    let row = sqlx::query(
        "
        select
            (select count(*) from media where status = 'pending') as pending,
            (select count(*) from queue.jobs) as jobs
        ",
    )
    .fetch_one(&mut cluster.connect().await?)
    .await?;
    Ok(Left {
        pending: row.get("pending"),
        jobs: row.get("jobs"),
    })
}

impl Report for Proof {
    fn lines(&self) -> Vec<Line> {
        let Havoc {
            workers_killed,
            apis_killed,
            receivers_killed,
            postgres_restarts,
            ..
        } = &self.havoc;
        let mut lines = self.outcome.lines();
        lines.extend([
            Line::fact(
                "killed",
                format!(
                    "{workers_killed} times a worker, {apis_killed} times an API, {receivers_killed} times the receiver"
                ),
            ),
            Line::fact("Postgres restarted", format!("{postgres_restarts} times")),
            Line::fact(
                "webhooks answered with 500",
                self.webhooks_refused.to_string(),
            ),
            Line::fact(
                "webhooks that came again",
                self.webhooks_repeated.to_string(),
            ),
        ]);
        lines.extend(self.outcome.verdict());
        lines
    }
}
