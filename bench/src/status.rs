//! Status queries a second against one API process with nothing else running, about items of which half are decided and half
//! are pending, beside the same server without a database.

mod bench;
mod items;
mod table;

use std::time::Duration;

use clap::Args;

pub(crate) use self::table::Asked;
use self::{
    bench::Bench,
    items::{queries, submit},
};
use crate::{
    latency::{Medians, median},
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
    submit::SITES_PER_TEAM,
};

const WARM_UP: Duration = Duration::from_secs(2);
/// Options of `status`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Rounds
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of measuring in each round
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Connections that ask
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Sites whose items are asked about in turn, ten to a team
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    sites: u32,
    /// Items, half of them decided
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(2..))]
    items: u64,
    /// Few items and one short round: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// Runs the benchmark.
pub(crate) async fn run(mut options: Options) -> anyhow::Result<Asked> {
    if options.quick {
        (options.rounds, options.seconds, options.items) = (1, 1, 400);
    }
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let shape = Shape {
        apis: 1,
        workers: 1,
        tenants: Tenants {
            sites: options.sites.try_into()?,
            sites_per_team: SITES_PER_TEAM,
        },
        lease_seconds: 30,
        manners: Manners::default(),
    };
    let mut stack = Stack::start(&options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let (decided, pending) = submit(&mut stack, &mut conn, &options, seed).await?;
    let queries = queries(&mut conn, &stack.sites).await?;
    let mut bench = Bench {
        stack: &stack,
        conn,
        queries,
        connections: options.connections,
        duration: Duration::from_secs(options.seconds),
    };
    bench.ask(WARM_UP.min(bench.duration)).await?;
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let round = bench.round().await?;
        eprintln!(
            "round {number} of {}: {:.0}/s, without a database {:.0}/s",
            options.rounds, round.rate, round.ceiling_rate
        );
        rounds.push(round);
    }
    let rate = median(rounds.iter().map(|round| round.rate));
    let ceiling_rate = median(rounds.iter().map(|round| round.ceiling_rate));
    let latencies: Vec<_> = rounds.iter().map(|round| round.latency).collect();
    Ok(Asked {
        machine,
        seed,
        sites: stack.sites.len(),
        decided,
        pending,
        connections: options.connections,
        rate,
        latency: Medians::of(&latencies),
        ceiling_rate,
        ceiling_share: rate / ceiling_rate,
        rounds,
    })
}
