//! Too few connections: Postgres allows fewer than the processes together may open, and is restarted
//! at random moments under load. All processes must go on: within 10 s after each restart, and at
//! any time, something is accepted and something is decided. At the end, everything is audited as
//! after the chaos.

mod progress;

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use clap::Args;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde::Serialize;
use sqlx::AssertSqlSafe;
use tokio::time::sleep;

use self::progress::Progress;
use super::{
    audit::Audit,
    client::{Customers, Ledger, look},
    drain::drain,
    outcome::Outcome,
    random_kills::RandomKills,
};
use crate::{
    cluster::{Role, Stop},
    environment::Environment,
    load::Ticks,
    receiver::Manners,
    report::{Line, Machine, Report},
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack, Surroundings},
};

/// How soon something must be accepted and decided again, in seconds.
const PROMISED: f64 = 10.0;
/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// Options of `scarcity`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// `max_connections` of Postgres. Three of them are for administrators only
    #[arg(long, default_value_t = 27)]
    max_connections: u32,
    /// API processes
    #[arg(long, default_value_t = 2)]
    apis: usize,
    /// Worker processes
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// Submissions a second
    #[arg(long, default_value_t = 20.0)]
    rate: f64,
    /// Connections that submit
    #[arg(long, default_value_t = 32)]
    connections: usize,
    /// How long the load lasts, in seconds
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// The longest time between two restarts of Postgres, in seconds
    #[arg(long, default_value_t = 60)]
    restart_seconds: u64,
    /// How long a worker may be silent before its jobs go to others, in seconds
    #[arg(long, default_value_t = 30)]
    lease_seconds: u64,
    /// How long the remaining work may take after the last submission, in seconds
    #[arg(long, default_value_t = 60)]
    patience_seconds: u64,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Proof {
    #[serde(flatten)]
    outcome: Outcome,
    max_connections: u32,
    processes: usize,
    /// The most connections that all processes together may open.
    wanted: i64,
    restarts: usize,
    /// Submissions without a 200.
    refused: u64,
    /// The longest times without an accepted submission and without a verdict, while Postgres ran.
    longest_without_acceptance_seconds: f64,
    longest_without_verdict_seconds: f64,
}

/// Runs the proof.
///
/// # Errors
/// It could not be carried out. A failed proof is not an error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Proof> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let mut environment = Environment::start(&options.common.environment).await?;
    let mut conn = environment.cluster.connect().await?;
    let allow = format!(
        "alter system set max_connections = {}",
        options.max_connections
    );
    sqlx::query(AssertSqlSafe(allow)).execute(&mut conn).await?;
    drop(conn);
    environment.cluster.restart(Stop::Fast).await?;
    let url = environment.cluster.url(Role::Gatehouse);
    let shape = Shape {
        apis: options.apis,
        workers: options.workers,
        tenants: Tenants {
            sites: 6,
            sites_per_team: 2,
        },
        lease_seconds: options.lease_seconds,
        manners: Manners::default(),
    };
    let surroundings = Surroundings::default();
    let mut stack =
        Stack::start_on(environment, url, surroundings, &options.common, shape, seed).await?;
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
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    // Older versions have no such column.
    let wanted = sqlx::query_scalar(
        "select coalesce(sum((to_jsonb(w) ->> 'connections')::bigint), 0)::bigint from queue.workers w",
    )
    .fetch_one(&mut conn)
    .await?;
    drop(conn);
    let customers = Customers::of(stack, seed, options.connections);
    let ledger = RefCell::new(Ledger::default());
    let finished = Cell::new(false);
    let mut random_kills = RandomKills::default();
    // More ticks than are ever used.
    let ticks = Ticks::start(options.rate, u64::MAX);
    let submitting = customers.submit(&ticks, &ledger);
    let looking = look(&customers, &finished);
    let disturbing = async {
        let progress = disturb(options, stack, &ledger, &mut random_kills, seed).await?;
        ticks.close().await;
        finished.set(true);
        anyhow::Ok(progress)
    };
    let ((), (), progress) = tokio::try_join!(submitting, looking, disturbing)?;
    let ledger = ledger.into_inner();

    let patience = Duration::from_secs(options.patience_seconds);
    let (drained, rest) = drain(stack, &mut random_kills, patience).await?;
    let mut audit = Audit::begin(stack, &ledger, &customers).await?;
    for (what, longest) in [
        ("accepted", progress.accepted.longest()),
        ("decided", progress.decided.longest()),
    ] {
        audit.expect(
            &format!("something is {what} within {PROMISED} s, at any time"),
            (longest > PROMISED).then(|| format!("{longest:.1} s")),
        );
    }
    audit.expect("everything came to rest in time", rest);
    audit.expect("no process ended by itself", random_kills.deaths);
    audit.run().await?;
    Ok(Proof {
        outcome: Outcome::of(audit, &ledger, machine, seed, drained),
        max_connections: options.max_connections,
        processes: options.apis + options.workers,
        wanted,
        restarts: progress.restarts,
        refused: ledger.unsent + ledger.unknown.len() as u64,
        longest_without_acceptance_seconds: progress.accepted.longest(),
        longest_without_verdict_seconds: progress.decided.longest(),
    })
}

/// Restarts Postgres at random moments, and looks what is accepted and decided.
async fn disturb(
    options: &Options,
    stack: &mut Stack,
    ledger: &RefCell<Ledger>,
    random_kills: &mut RandomKills,
    seed: u64,
) -> anyhow::Result<Progress> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut pause = || Duration::from_secs(random.random_range(5..=options.restart_seconds.max(5)));
    let begun = Instant::now();
    let mut progress = Progress::begin();
    // One of the connections that are for administrators.
    let mut conn = stack.environment.cluster.connect().await?;
    let mut restart_at = begun + pause();
    while begun.elapsed() < Duration::from_secs(options.seconds) {
        random_kills.watch(stack).await?;
        if Instant::now() >= restart_at {
            eprintln!("restarting Postgres");
            stack.environment.cluster.restart(Stop::Fast).await?;
            conn = stack.environment.cluster.connect().await?;
            progress.restarted();
            restart_at = Instant::now() + pause();
        }
        let accepted = ledger.borrow().accepted.len() as u64;
        let decided: i64 = sqlx::query_scalar("select count(*) from verdicts")
            .fetch_one(&mut conn)
            .await?;
        progress.look(accepted, decided.unsigned_abs());
        sleep(LOOK).await;
    }
    Ok(progress)
}

impl Report for Proof {
    fn lines(&self) -> Vec<Line> {
        let mut lines = self.outcome.lines();
        lines.extend([
            Line::fact(
                "connections",
                format!(
                    "Postgres has {}, and {} processes may open {}",
                    self.max_connections, self.processes, self.wanted
                ),
            ),
            Line::fact("Postgres restarted", format!("{} times", self.restarts)),
            Line::fact("submissions without a 200", self.refused.to_string()),
            Line::fact(
                "longest time without an accepted one",
                format!("{:.1} s", self.longest_without_acceptance_seconds),
            ),
            Line::fact(
                "longest time without a verdict",
                format!("{:.1} s", self.longest_without_verdict_seconds),
            ),
        ]);
        lines.extend(self.outcome.verdict());
        lines
    }

    /// Whether every check holds.
    fn holds(&self) -> bool {
        self.outcome.holds()
    }
}
