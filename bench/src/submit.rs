//! Submissions a second against one API process with nothing else running, beside pgbench on the same Postgres: rounds of
//! both take turns on emptied tables. Everything is switched on: the rate of each key and the quota of each team are
//! counted, and each submission has an `Idempotency-Key` that was not there before.

mod table;

use std::{path::PathBuf, time::Duration};

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};
use serde::Serialize;
use sqlx::PgConnection;

use crate::{
    http,
    latency::{Medians, Percentiles, median},
    load::{self, Extent},
    meter::{Cost, Meter, Traces, announce_workers, empty_tables},
    pgbench::{self, Measured, Variables},
    receiver::Manners,
    report::Machine,
    requests::Requests,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
    texts::Texts,
};

const WARM_UP: Duration = Duration::from_secs(2);
const CEILING: Duration = Duration::from_secs(3);
/// Sites of a team.
pub(crate) const SITES_PER_TEAM: usize = 10;

/// Options of `submit`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Rounds of pgbench and Gatehouse in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of measuring in each round, for each of the two
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
    /// Send no Idempotency-Key, which tells what it costs
    #[arg(long)]
    no_idempotency_key: bool,
    /// As if no worker lived: the acceptance of each submission is told at once, by an event and a delivery of its own
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
    /// Client counts of which pgbench's best is found, each for so long.
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
/// Texts of which the mean length is taken.
const SAMPLE: u64 = 1_024;

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Submitted {
    machine: Machine,
    seed: u64,
    sites: usize,
    bodies: Bodies,
    mean_body_bytes: usize,
    idempotency_keys: bool,
    connections: usize,
    /// pgbench at each client count; the best one is used in the rounds.
    search: Vec<Measured>,
    rounds: Vec<Round>,
    /// Medians over the rounds.
    gatehouse_rate: f64,
    latency: Medians,
    pgbench_rate: f64,
    /// The one rate divided by the other.
    ratio: f64,
    /// Answers a second of the same server without a database.
    ceiling_rate: f64,
    /// The rate divided by that.
    ceiling_share: f64,
}

#[derive(Debug, Serialize)]
struct Round {
    pgbench: Measured,
    pgbench_wal_bytes_per_item: f64,
    gatehouse_rate: f64,
    latency: Percentiles,
    cost: Cost,
    ceiling_rate: f64,
}

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
    let mut conn = stack.ground.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    pgbench::tell_sites(&mut conn, &stack.sites).await?;
    if !options.no_worker {
        announce_workers(&mut conn).await?;
    }
    let plan = options.plan();
    let mut bench = Bench::prepare(&options, &stack, conn, seed)?;

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
            "round {number} of {}: pgbench {:.0}/s, Gatehouse {:.0}/s, without a database {:.0}/s",
            plan.rounds, round.pgbench.rate, round.gatehouse_rate, round.ceiling_rate
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
        ceiling_rate,
        ceiling_share: gatehouse_rate / ceiling_rate,
        rounds,
    })
}

struct Bench<'a> {
    stack: &'a Stack,
    conn: PgConnection,
    requests: Requests,
    /// Whether they have an `Idempotency-Key`.
    named: bool,
    /// Whether each comes with one job.
    short: bool,
    connections: usize,
    duration: Duration,
    script: PathBuf,
    variables: Variables,
}

impl<'a> Bench<'a> {
    fn prepare(
        options: &Options,
        stack: &'a Stack,
        conn: PgConnection,
        seed: u64,
    ) -> anyhow::Result<Self> {
        let texts = Texts::new(seed);
        let text = |number| match options.bodies {
            Bodies::Typical => texts.plain(number, TYPICAL_BYTES),
            Bodies::Mixed => texts.get(number).body,
        };
        let mean = match options.bodies {
            Bodies::Typical => TYPICAL_BYTES,
            Bodies::Mixed => {
                let bytes = (0..SAMPLE).map(|number| text(number).len() as u64);
                usize::try_from(bytes.sum::<u64>() / SAMPLE)?
            }
        };
        let named = !options.no_idempotency_key;
        Ok(Self {
            stack,
            conn,
            requests: Requests::submissions(&stack.sites, named, text),
            named,
            short: !options.no_worker,
            connections: options.connections,
            duration: options.plan().duration,
            script: stack.write("plain.sql", pgbench::PLAIN)?,
            variables: Variables {
                sites: stack.sites.len(),
                body: texts.plain(0, mean),
            },
        })
    }

    async fn pgbench(&self, clients: u32, duration: Duration) -> anyhow::Result<Measured> {
        pgbench::run(
            &self.stack.ground.cluster,
            &self.script,
            &self.variables,
            clients,
            duration,
        )
        .await
    }

    /// Both, and the one first that was second the last time.
    async fn round(&mut self, clients: u32, number: usize) -> anyhow::Result<Round> {
        let (plain, own) = if number % 2 == 1 {
            let plain = self.plain(clients).await?;
            (plain, self.own().await?)
        } else {
            let own = self.own().await?;
            (self.plain(clients).await?, own)
        };
        let address = self.stack.apis[0].address;
        let healthz = Requests::new([http::get("/healthz")]);
        let ceiling = Extent::Lasting(CEILING.min(self.duration));
        let ceiling = load::closed(address, &healthz, self.connections, ceiling).await?;
        Ok(Round {
            pgbench: plain.0,
            pgbench_wal_bytes_per_item: plain.1.wal_bytes_per_item,
            gatehouse_rate: own.0.rate(),
            latency: own.0.latencies.percentiles(),
            cost: own.1,
            ceiling_rate: ceiling.rate(),
        })
    }

    async fn plain(&mut self, clients: u32) -> anyhow::Result<(Measured, Cost)> {
        empty_tables(&mut self.conn).await?;
        let meter = Meter::start(&mut self.conn).await?;
        let measured = self.pgbench(clients, self.duration).await?;
        let cost = meter.stop(&mut self.conn, measured.transactions).await?;
        let stored: i64 = sqlx::query_scalar("select count(*) from media")
            .fetch_one(&mut self.conn)
            .await?;
        ensure!(
            u64::try_from(stored)? == measured.transactions,
            "{} were counted, but {stored} are stored",
            measured.transactions
        );
        Ok((measured, cost))
    }

    async fn own(&mut self) -> anyhow::Result<(load::Throughput, Cost)> {
        let address = self.stack.apis[0].address;
        // Every site once, so that the server knows them all.
        for extent in [
            Extent::Of(self.requests.len() as u64),
            Extent::Lasting(WARM_UP.min(self.duration)),
        ] {
            load::closed(address, &self.requests, self.connections, extent).await?;
        }
        empty_tables(&mut self.conn).await?;
        let meter = Meter::start(&mut self.conn).await?;
        let extent = Extent::Lasting(self.duration);
        let throughput = load::closed(address, &self.requests, self.connections, extent).await?;
        let cost = meter.stop(&mut self.conn, throughput.answered).await?;
        let traces = Traces {
            submissions: throughput.answered,
            named: self.named,
            short: self.short,
        };
        traces.expect(&mut self.conn).await?;
        Ok((throughput, cost))
    }
}
