//! One hostile team beside a well-behaved one: how long the well-behaved team's submissions and
//! verdicts take, and how much memory the API and the worker need, while the hostile team does its
//! worst with permitted calls only.
//!
//! A round is one idle minute and one minute of each attack, in shuffled order. Every minute begins
//! with fresh processes, empty tables and a new hostile team. The attack runs in a separate process
//! with a lower priority, so that the benchmark measures the service's work for the hostile team,
//! and not the attacker's own.

mod attack;
mod cpu_usage;
mod hostile;
mod outcome;
mod table;
mod testbed;
mod victim;
mod watch;

use clap::Args;
use rand::{SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use serde::Serialize;

pub(crate) use self::hostile::{Options as HostileOptions, run as run_hostile};
use self::{
    attack::Attack,
    outcome::{Against, Bounds},
    testbed::{Minute, Testbed},
};
use crate::{report::Machine, stack::CommonOptions};

/// Options of `neighbours`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Rounds, each of an idle minute and every attack
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of each attack, and of each idle time
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(5..))]
    seconds: u64,
    /// Items a second of the well-behaved team
    #[arg(long, default_value_t = 50.0)]
    rate: f64,
    /// Run only these attacks, separated by commas
    #[arg(long, value_delimiter = ',')]
    only: Vec<Attack>,
    /// The bound of the API's resident memory, and of the worker's, in MiB
    #[arg(long, default_value_t = 512)]
    memory_mib: u32,
    /// To protect the machine, a process with more resident memory than this, in MiB, is killed and
    /// started again
    #[arg(long, default_value_t = 3_072)]
    stop_at_mib: u32,
    /// How many files the API and the worker may each have open
    #[arg(long, default_value_t = 2_048)]
    descriptors: u64,
    /// How much lower the hostile team's priority is: 0 for the same as others, 19 for the lowest
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(i32).range(0..=19))]
    nice: i32,
    /// Connections through which the well-behaved team submits
    #[arg(long, default_value_t = 64)]
    connections: usize,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Neighbours {
    machine: Machine,
    seed: u64,
    rate: f64,
    seconds: u64,
    rounds: u32,
    descriptors: u64,
    nice: i32,
    bounds: Bounds,
    /// One for each round.
    idle: Vec<Minute>,
    attacks: Vec<Against>,
}

impl Neighbours {
    /// What went wrong without an attack. Then the figures are void.
    fn idle_failures(&self) -> Vec<String> {
        outcome::harm(&self.idle, self.bounds.memory_mib)
    }
}

/// Runs the benchmark.
///
/// # Errors
/// It could not be carried out. A bound that does not hold is not an error.
pub(crate) async fn run(options: Options) -> anyhow::Result<Neighbours> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    eprintln!("to repeat this: --seed {seed}");
    let mut attacks = if options.only.is_empty() {
        Attack::ALL.to_vec()
    } else {
        options.only.clone()
    };
    attacks.sort();
    attacks.dedup();
    let mut testbed = Testbed::build(&options, seed).await?;
    let machine = Machine::describe(testbed.connection(), load_before).await?;

    let mut random = StdRng::seed_from_u64(seed);
    let mut idle = Vec::new();
    let mut minutes: Vec<(Attack, Minute)> = Vec::new();
    for number in 1..=options.rounds {
        let calm = testbed.minute(None).await?;
        eprintln!("round {number} of {}, idle: {calm}", options.rounds);
        idle.push(calm);
        let mut order = attacks.clone();
        order.shuffle(&mut random);
        for attack in order {
            let minute = testbed.minute(Some(attack)).await?;
            eprintln!(
                "round {number} of {}, {}: {minute}",
                options.rounds,
                attack.name()
            );
            minutes.push((attack, minute));
        }
    }
    let bounds = Bounds::beside(&idle, options.memory_mib);
    let attacks = attacks.into_iter().map(|attack| {
        let own = minutes.extract_if(.., |(of, _)| *of == attack);
        let own = own.map(|(_, minute)| minute).collect();
        Against::new(attack, own, &idle, &bounds)
    });
    Ok(Neighbours {
        machine,
        seed,
        rate: options.rate,
        seconds: options.seconds,
        rounds: options.rounds,
        descriptors: options.descriptors,
        nice: options.nice,
        bounds,
        attacks: attacks.collect(),
        idle,
    })
}
