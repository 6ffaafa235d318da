//! A long life: an installation with many items beside a young one. What an application and a moderator ask of it should take no
//! longer, and the retention of a day's items should not be felt.

mod fill;
mod installation;
mod retention;
mod table;

use std::time::{Duration, Instant};

use clap::Args;

pub(crate) use self::table::Lived;
use self::{
    installation::{Installation, Paces},
    retention::expire,
    table::Sides,
};
use crate::{
    report::Machine,
    stack::{CommonOptions, Shape, Stack, Surroundings, without_pauses},
};

const SITES: usize = 8;
/// Before each round, so that no round is measured beside the end of what was before.
const PAUSE: Duration = Duration::from_secs(3);

/// Options of `life`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Items of the old installation
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(10_000..=100_000_000))]
    items: u32,
    /// Items of the young installation
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(10_000..=100_000_000))]
    few: u32,
    /// Days that the items of both are spread over
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u32).range(10..=3_000))]
    days: u32,
    /// Days whose items still have events, deliveries and attempts
    #[arg(long, default_value_t = 2)]
    told_days: u32,
    /// Rounds, each with both installations in turn. In as many rounds, a day's items are removed
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=8))]
    rounds: u32,
    /// Seconds of each part of a round
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Submissions a second
    #[arg(long, default_value_t = 100.0)]
    rate: f64,
    /// Connections that submit or ask
    #[arg(long, default_value_t = 16)]
    connections: usize,
    /// Few items and one short round: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// Runs the measurement.
pub(crate) async fn run(mut options: Options) -> anyhow::Result<Lived> {
    if options.quick {
        (options.items, options.few, options.days) = (100_000, 10_000, 10);
        (options.rounds, options.seconds) = (1, 3);
    }
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let mut young = start(&options, options.few, seed).await?;
    let mut old = start(&options, options.items, seed).await?;
    let machine = Machine::describe(&mut old.conn, load_before).await?;
    let mut sides = Sides::default();
    for number in 0..=options.rounds {
        tokio::time::sleep(PAUSE).await;
        let mut turns = [(&mut young, &mut sides.young), (&mut old, &mut sides.old)];
        if number % 2 == 1 {
            turns.reverse();
        }
        for (installation, rounds) in turns {
            let round = installation.round().await?;
            if number == 0 {
                // The first round fills caches.
                continue;
            }
            eprintln!("round {number}, {} items: {round}", installation.items);
            rounds.push(round);
        }
    }
    let mut expired = Vec::new();
    for number in 1..=options.rounds {
        tokio::time::sleep(PAUSE).await;
        let round = expire(&mut old, options.days - number).await?;
        eprintln!("removal {number}: {round}");
        expired.push(round);
    }
    Ok(Lived {
        machine,
        seed,
        days: options.days,
        rate: options.rate,
        young: young.described(),
        old: old.described(),
        sides,
        expired,
    })
}

/// An installation with so many items.
async fn start(options: &Options, items: u32, seed: u64) -> anyhow::Result<Installation> {
    let shape = Shape::of_one_team(1, SITES);
    let surroundings = Surroundings {
        environment: without_pauses().into(),
        ..Surroundings::default()
    };
    let mut stack = Stack::start_in(surroundings, &options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let begun = Instant::now();
    let filled = fill::fill(&mut conn, &mut stack, options, items, seed).await?;
    eprintln!(
        "{items} items filled in within {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    let paces = Paces {
        submissions: options.rate,
        seconds: options.seconds,
        connections: options.connections,
    };
    Ok(Installation {
        stack,
        conn,
        items,
        filled,
        paces,
        seed,
        submitted: 0,
    })
}
