//! Our queue beside graphile-worker, pg-boss and a loop written by hand, on one Postgres and in one run: each works in
//! processes of its own, one at a time, and the order changes from round to round.

mod case;
mod system;
mod table;

use clap::{Args, ValueEnum as _};
use serde::Serialize;

use self::{
    case::{Case, Contestant, Outcome, Size},
    system::{Arena, System},
};
use crate::{
    environment::{Environment, EnvironmentOptions},
    protocol::About,
    report::Machine,
};

/// Options of `queue`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) environment: EnvironmentOptions,
    /// Rounds of every measurement
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Rounds of measurements that need a million additional jobs
    #[arg(long, default_value_t = 1)]
    long_rounds: usize,
    /// Jobs of a backlog; the large one has 8 times as many, the million 20 times
    #[arg(long, default_value_t = 50_000)]
    jobs: u64,
    /// Seconds of each latency
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Only these
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Case>,
    /// One round at a twentieth of the size: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Compared {
    machine: Machine,
    size: Size,
    abouts: Vec<(System, About)>,
    cases: Vec<Measured>,
}

/// A case, with the rounds of every contestant.
#[derive(Debug, Serialize)]
struct Measured {
    case: Case,
    entries: Vec<Entry>,
}

#[derive(Debug, Serialize)]
struct Entry {
    contestant: Contestant,
    rounds: Vec<Outcome>,
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Compared> {
    let load_before = Machine::load_before();
    let (size, rounds, long_rounds) = if options.quick {
        let size = Size {
            jobs: options.jobs / 20,
            seconds: options.seconds.min(2),
        };
        (size, 1, 1)
    } else {
        let size = Size {
            jobs: options.jobs,
            seconds: options.seconds,
        };
        (size, options.rounds, options.long_rounds)
    };
    let cases = if options.only.is_empty() {
        Case::value_variants()
    } else {
        &options.only
    };

    let (environment, pool) = Environment::with_queue(&options.environment).await?;
    pool.close().await;
    let machine = Machine::describe(&mut environment.cluster.connect().await?, load_before).await?;
    let arena = Arena::prepare(&environment.cluster, environment.directory()).await?;
    let mut abouts = Vec::new();
    let mut measured = Vec::new();
    for &case in cases {
        let rounds = if case.is_long() { long_rounds } else { rounds };
        eprintln!("{}", case.title(size));
        let mut entries: Vec<Entry> = case
            .contestants()
            .into_iter()
            .map(|contestant| Entry {
                contestant,
                rounds: Vec::new(),
            })
            .collect();
        for round in 0..rounds {
            for turn in 0..entries.len() {
                let number = (turn + round) % entries.len();
                let entry = &mut entries[number];
                let (outcome, about) = case.measure(&arena, entry.contestant, size).await?;
                eprintln!("  round {}, {}: {outcome}", round + 1, entry.contestant);
                entry.rounds.push(outcome);
                let system = entry.contestant.system;
                if !abouts.iter().any(|(known, _)| *known == system) {
                    abouts.push((system, about));
                }
            }
        }
        measured.push(Measured { case, entries });
    }
    Ok(Compared {
        machine,
        size,
        abouts,
        cases: measured,
    })
}
