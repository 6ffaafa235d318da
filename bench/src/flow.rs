//! The whole way of an item, from the submission to its `media.moderated` webhook: latency at a fixed rate beside bare round
//! trips, what an item costs in Postgres, and how fast everything goes at full speed.

mod measured;
mod resources;
mod round;
mod table;

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;

pub(crate) use self::measured::Flowed;
use self::{
    measured::{Measured, Ratios, Round},
    round::Flow,
};
use crate::{
    processes::Kind,
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
    texts::Texts,
};

const SITES: usize = 4;
const WARM_UP_SECONDS: u64 = 3;
/// Options of `flow`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Another binary to measure in the same run, by turns
    #[arg(long)]
    beside: Option<PathBuf>,
    /// Items a second
    #[arg(long, default_value_t = 100.0)]
    rate: f64,
    /// Seconds of each round
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Rounds, of each binary
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Items of the run at full speed in each round; none skips it
    #[arg(long, default_value_t = 20_000)]
    drain_items: u64,
    /// Connections that submit
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// API processes
    #[arg(long, default_value_t = 1)]
    apis: usize,
    /// Worker processes
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// One `gatehouse up` in place of API and worker processes
    #[arg(long)]
    up: bool,
    /// Which percentage of the items a rule sends to a person; all others are approved [default: as the texts come]
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=100))]
    reviews_percent: Option<u64>,
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Flowed> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let other = options.beside.clone();
    let other = other.map(|binary| Options {
        common: options.common.with_binary(binary),
        ..options.clone()
    });
    let mut machine = None;
    let (mut ours, mut others) = (Vec::new(), Vec::new());
    for number in 1..=options.rounds {
        let mut turns = vec![(&options, &mut ours, "")];
        if let Some(other) = &other {
            turns.push((other, &mut others, ", beside"));
        }
        if number % 2 == 0 {
            turns.reverse();
        }
        for (options, rounds, which) in turns {
            let (round, found) = one_round(options, seed, load_before).await?;
            eprintln!("round {number}{which}: {}", round.summary());
            rounds.push(round);
            machine.get_or_insert(found);
        }
    }
    let (measured, others) = (Measured::of(ours), Measured::of(others));
    let ratios = (!others.rounds.is_empty()).then(|| Ratios::of(&measured, &others));
    Ok(Flowed {
        machine: machine.context("no round was asked for")?,
        seed,
        rate: options.rate,
        reviews_percent: options.reviews_percent,
        processes: if options.up {
            "one `up`".to_owned()
        } else {
            format!("{} API, {} worker", options.apis, options.workers)
        },
        measured,
        beside: ratios.is_some().then_some(others),
        ratios,
    })
}

/// A round on a Postgres and with processes of its own.
async fn one_round(
    options: &Options,
    seed: u64,
    load_before: f64,
) -> anyhow::Result<(Round, Machine)> {
    let (apis, workers) = if options.up {
        (0, 0)
    } else {
        (options.apis, options.workers)
    };
    let shape = Shape {
        apis,
        workers,
        tenants: Tenants {
            sites: SITES,
            sites_per_team: 2,
        },
        lease_seconds: 30,
        manners: Manners::default(),
    };
    let mut stack = Stack::start(&options.common, shape, seed).await?;
    if options.up {
        let up = stack.gatehouse.start(Kind::Up, 0).await?;
        stack.apis.push(up);
    }
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let mut flow = Flow {
        options,
        stack,
        conn,
        texts: Texts::new(seed),
    };
    flow.at_rate(WARM_UP_SECONDS).await?;
    let mut round = flow.round().await?;
    if options.drain_items > 0 {
        round.drain = Some(flow.drain().await?);
    }
    Ok((round, machine))
}
