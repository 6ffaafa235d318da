//! Checks two promises about the cost of other jobs: how long a newcomer waits beside another
//! customer's backlog, and how long claims take after a million jobs were finished, or with a
//! million scheduled.

mod bench;
mod table;

use std::time::Duration;

use clap::Args;

pub(crate) use self::table::Fair;
use self::{
    bench::{Bench, mixed},
    table::Round,
};
use crate::{
    environment::{Environment, EnvironmentOptions},
    fill_queue::{empty, fill},
    latency::median,
    report::Machine,
};

/// How much longer a newcomer may always wait than on an idle queue.
const MARGIN_MS: f64 = 25.0;
const HOUR: Duration = Duration::from_hours(1);

/// Options of `fairness`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) environment: EnvironmentOptions,
    /// Rounds of idle and busy in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Jobs of the other customer
    #[arg(long, default_value_t = 100_000)]
    backlog: u64,
    /// Jobs that run at once, and as many are claimed ahead
    #[arg(long, default_value_t = 64)]
    concurrency: usize,
    /// How long a job takes, in milliseconds
    #[arg(long, default_value_t = 5)]
    job_ms: u64,
    /// Jobs finished, or scheduled, before claims are timed
    #[arg(long, default_value_t = 1_000_000)]
    million: u64,
    /// Jobs that are claimed then
    #[arg(long, default_value_t = 100_000)]
    claimed: u64,
    /// Everything at a twentieth of the size: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// Runs the benchmark.
pub(crate) async fn run(mut options: Options) -> anyhow::Result<Fair> {
    if options.quick {
        options.backlog /= 20;
        options.million /= 20;
        options.claimed /= 20;
        options.rounds = options.rounds.min(3);
    }
    let load_before = Machine::load_before();
    let (environment, pool) = Environment::with_queue(&options.environment).await?;
    pool.close().await;
    let mut conn = environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let bench = Bench {
        options: &options,
        environment: &environment,
    };
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let (idle, busy) = if number % 2 == 1 {
            let idle = bench.newcomer(&mut conn, 0).await?;
            (idle, bench.newcomer(&mut conn, options.backlog).await?)
        } else {
            let busy = bench.newcomer(&mut conn, options.backlog).await?;
            (bench.newcomer(&mut conn, 0).await?, busy)
        };
        eprintln!(
            "round {number} of {}: idle {idle}; busy {busy}",
            options.rounds
        );
        rounds.push(Round { idle, busy });
    }
    let idle_ms = median(rounds.iter().map(|round| round.idle.p95_ms));

    eprintln!("claims of a fresh table");
    empty(&mut conn).await?;
    let fresh = bench.claims(&mut conn, true).await?;
    eprintln!("  {fresh}\nclaims with {} scheduled", options.million);
    empty(&mut conn).await?;
    fill(&mut conn, mixed(options.million), HOUR).await?;
    let scheduled = bench.claims(&mut conn, true).await?;
    eprintln!(
        "  {scheduled}\nclaims right after {} were finished",
        options.million
    );
    empty(&mut conn).await?;
    bench.wear(&mut conn).await?;
    let finished = bench.claims(&mut conn, false).await?;
    eprintln!("  {finished}");
    Ok(Fair {
        machine,
        backlog: options.backlog,
        million: options.million,
        busy_ms: median(rounds.iter().map(|round| round.busy.p95_ms)),
        bound_ms: (2.0 * idle_ms).max(idle_ms + MARGIN_MS),
        idle_ms,
        rounds,
        fresh,
        finished,
        scheduled,
    })
}
