//! Submissions a second against one API process with nothing else running, beside pgbench on the
//! same Postgres. Rounds of both take turns on emptied tables. Everything is switched on: the rate
//! of each key and the quota of each team are counted, and each submission has a new
//! `Idempotency-Key`.

mod bench;
mod outcome;
mod table;

use std::{fs, path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::Serialize;

use self::bench::Bench;
use self::outcome::Beside;
pub(crate) use self::outcome::Submitted;
use crate::{
    latency::{Medians, median},
    pgbench,
    postgres_cost::{announce_workers, empty_tables},
    processes::{Gatehouse, Kind, Process},
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
};

/// Sites of a team.
pub(crate) const SITES_PER_TEAM: usize = 10;

/// Options of `submit`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// An older binary, which is measured in each round, too. To compare two versions, take many short rounds: the speed of a
    /// machine changes from minute to minute
    #[arg(long)]
    beside: Option<PathBuf>,
    /// Rounds of pgbench and Gatehouse in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of measuring in each round, for each of them
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Connections that submit
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Sites that take turns, ten to a team
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    sites: u32,
    /// What is submitted
    #[arg(long, value_enum, default_value_t = Bodies::Typical)]
    bodies: Bodies,
    /// Send no Idempotency-Key, to measure its cost
    #[arg(long)]
    no_idempotency_key: bool,
    /// As if no worker ran: the acceptance of each submission is sent at once, by its own event and
    /// delivery
    #[arg(long)]
    no_worker: bool,
    /// One short round: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// How much is measured.
struct Plan {
    rounds: usize,
    duration: Duration,
    /// Client counts that are tried to find pgbench's best one, each for the time `search`.
    clients: &'static [u32],
    search: Duration,
}

impl Options {
    fn plan(&self) -> Plan {
        if self.quick {
            Plan {
                rounds: 1,
                duration: Duration::from_secs(1),
                clients: &[16],
                search: Duration::from_secs(1),
            }
        } else {
            Plan {
                rounds: self.rounds,
                duration: Duration::from_secs(self.seconds),
                clients: &[4, 8, 16, 32, 64],
                search: Duration::from_secs(4),
            }
        }
    }
}

/// What is submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
enum Bodies {
    /// 300 bytes of text
    Typical,
    /// One line to 20 KB in many scripts; pgbench inserts their mean length
    Mixed,
}

/// The typical text.
pub(crate) const TYPICAL_BYTES: usize = 300;
/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Submitted> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let shape = Shape {
        apis: 1,
        workers: 0,
        tenants: Tenants {
            sites: options.sites.try_into()?,
            sites_per_team: SITES_PER_TEAM,
        },
        lease_seconds: 30,
        manners: Manners::default(),
    };
    let stack = Stack::start(&options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    pgbench::tell_sites(&mut conn, &stack.sites).await?;
    if !options.no_worker {
        announce_workers(&mut conn).await?;
    }
    let plan = options.plan();
    let beside = start_beside(&options, &stack.gatehouse).await?;
    let other = beside.as_ref().map(|process| process.address);
    let mut bench = Bench::prepare(&options, &stack, conn, seed, other)?;

    let mut search = Vec::new();
    for &clients in plan.clients {
        empty_tables(&mut bench.conn).await?;
        let measured = bench.pgbench(clients, plan.search).await?;
        eprintln!("pgbench with {clients} clients: {:.0}/s", measured.rate);
        search.push(measured);
    }
    let best = search
        .iter()
        .max_by(|a, b| a.rate.total_cmp(&b.rate))
        .context("no client count was tried")?
        .clients;
    let mut rounds = Vec::new();
    for number in 1..=plan.rounds {
        let round = bench.round(best, number).await?;
        eprintln!(
            "round {number} of {}: pgbench {:.0}/s, Gatehouse {:.0}/s{}, without a database {:.0}/s",
            plan.rounds,
            round.pgbench.rate,
            round.gatehouse_rate,
            round
                .beside_rate
                .map_or_else(String::new, |rate| format!(" and {rate:.0}/s")),
            round.ceiling_rate
        );
        rounds.push(round);
    }
    let gatehouse_rate = median(rounds.iter().map(|round| round.gatehouse_rate));
    let pgbench_rate = median(rounds.iter().map(|round| round.pgbench.rate));
    let ceiling_rate = median(rounds.iter().map(|round| round.ceiling_rate));
    let latencies: Vec<_> = rounds.iter().map(|round| round.latency).collect();
    Ok(Submitted {
        machine,
        seed,
        sites: stack.sites.len(),
        bodies: options.bodies,
        mean_body_bytes: bench.variables.body.len(),
        idempotency_keys: bench.named,
        connections: options.connections,
        search,
        gatehouse_rate,
        latency: Medians::of(&latencies),
        pgbench_rate,
        ratio: gatehouse_rate / pgbench_rate,
        beside: Beside::of(&rounds),
        ceiling_rate,
        ceiling_share: gatehouse_rate / ceiling_rate,
        rounds,
    })
}

/// The API process of the other binary, on the same Postgres. It rests while others are measured.
async fn start_beside(options: &Options, own: &Gatehouse) -> anyhow::Result<Option<Process>> {
    let Some(binary) = &options.beside else {
        return Ok(None);
    };
    let binary = fs::canonicalize(binary).with_context(|| format!("no {}", binary.display()))?;
    let other = Gatehouse {
        binary,
        ..own.clone()
    };
    Ok(Some(other.start(Kind::Api, 1).await?))
}
