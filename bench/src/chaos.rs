//! Proves that nothing is lost or doubled. Realistic texts go through several API and worker
//! processes, which are killed at random meanwhile. Afterwards the database, the interface and the
//! receiver are audited.
//!
//! A submission without an answer counts as unknown, and its text is submitted again as a new item.
//! Either all of the unknown item must exist or nothing of it.

pub(crate) mod audit;
pub(crate) mod client;
pub(crate) mod drain;
pub(crate) mod failover;
pub(crate) mod outcome;
pub(crate) mod random_kills;
pub(crate) mod scarcity;
mod table;

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use clap::Args;

pub(crate) use self::table::Proof;
use self::{
    client::Ledger,
    drain::{PROGRESS, drain},
    outcome::Outcome,
    random_kills::Plan,
};
use crate::{
    load::Ticks,
    receiver::Manners,
    report::{Machine, Report as _},
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
};

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
    /// Also restart Postgres meanwhile, alternating between the modes fast and immediate
    #[arg(long)]
    restart_postgres: bool,
    /// Also kill the receiver of webhooks again and again, and start it again after up to 15
    /// seconds
    #[arg(long)]
    kill_receiver: bool,
    /// How long the remaining work may take after the last submission, in seconds
    #[arg(long, default_value_t = 300)]
    patience_seconds: u64,
}

/// Runs the proof.
///
/// # Errors
/// It could not be carried out. A failed proof is not an error.
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
    let proof = prove(&options, &mut stack, seed, load_before).await;
    stack.kept_unless(proof.as_ref().is_ok_and(Proof::holds));
    proof
}

async fn prove(
    options: &Options,
    stack: &mut Stack,
    seed: u64,
    load_before: f64,
) -> anyhow::Result<Proof> {
    let machine =
        Machine::describe(&mut stack.environment.cluster.connect().await?, load_before).await?;
    let ledger = RefCell::new(Ledger::default());
    let finished = Cell::new(false);
    let plan = Plan {
        seed,
        items: options.items,
        restart_postgres: options.restart_postgres,
    };
    let customers = client::Customers::of(stack, seed, options.connections);
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
    let killing = random_kills::kill_and_restart(stack, plan, &ledger, &finished);
    let killing_receivers = random_kills::kill_relay(relay.as_mut(), seed, &finished);
    let ((), (), mut random_kills, receivers_killed) =
        tokio::try_join!(submitting, reporting, killing, killing_receivers)?;
    random_kills.receivers_killed = receivers_killed;
    stack.relay = relay;
    let ledger = ledger.into_inner();

    let (drained, rest) = drain(
        stack,
        &mut random_kills,
        Duration::from_secs(options.patience_seconds),
    )
    .await?;
    let mut audit = audit::Audit::begin(stack, &ledger, &customers).await?;
    audit.expect("everything came to rest in time", rest);
    audit.expect(
        "no process ended by itself",
        random_kills.deaths.iter().cloned(),
    );
    audit.run().await?;

    let received = stack.receiver.seen();
    Ok(Proof {
        outcome: Outcome::of(audit, &ledger, machine, seed, drained),
        webhooks_refused: received.refused,
        webhooks_repeated: received
            .by_event
            .values()
            .map(|arrival| u64::from(arrival.times - 1))
            .sum(),
        random_kills,
    })
}
