//! Submissions a second against one API process with nothing else running, beside pgbench on the same Postgres: rounds of
//! both take turns on emptied tables.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};
use domain::key::SiteKey;
use serde::Serialize;
use sqlx::PgConnection;

use crate::{
    http,
    latency::{Percentiles, median},
    load,
    meter::{Cost, Meter, empty_tables},
    pgbench::{self, Measured, Variables},
    receiver::Manners,
    report::{Line, Machine, Report, cost_lines},
    stack::{CommonOptions, Shape, Stack},
    texts::Texts,
};

/// Different requests that are sent in turn.
const REQUESTS: u64 = 1_024;
const APP_MEDIA_ID: &str = "benchmark-000001";
const CLIENTS: [u32; 5] = [4, 8, 16, 32, 64];
const SEARCH: Duration = Duration::from_secs(4);
const WARM_UP: Duration = Duration::from_secs(2);
const CEILING: Duration = Duration::from_secs(3);

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
    /// What is submitted
    #[arg(long, value_enum, default_value_t = Bodies::Typical)]
    bodies: Bodies,
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

const TYPICAL_BYTES: usize = 300;

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Submitted {
    machine: Machine,
    seed: u64,
    bodies: Bodies,
    mean_body_bytes: usize,
    connections: usize,
    /// pgbench at each client count; the best one is used in the rounds.
    search: Vec<Measured>,
    rounds: Vec<Round>,
    /// Medians over the rounds.
    gatehouse_rate: f64,
    pgbench_rate: f64,
    /// The one divided by the other.
    ratio: f64,
    /// Answers a second of the same server without a database.
    ceiling_rate: f64,
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
    let manners = Manners::default();
    let shape = Shape {
        apis: 1,
        workers: 0,
        sites: 1,
        lease_seconds: 30,
        manners,
    };
    let stack = Stack::start(&options.common, shape, seed).await?;
    let mut conn = stack.ground.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let mut bench = Bench::prepare(&options, &stack, conn, seed)?;

    let mut search = Vec::new();
    for clients in CLIENTS {
        empty_tables(&mut bench.conn).await?;
        let measured = bench.pgbench(clients, SEARCH).await?;
        eprintln!("pgbench with {clients} clients: {:.0}/s", measured.rate);
        search.push(measured);
    }
    let best = search
        .iter()
        .max_by(|a, b| a.rate.total_cmp(&b.rate))
        .context("no client count was tried")?
        .clients;
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let round = bench.round(best, number).await?;
        eprintln!(
            "round {number} of {}: pgbench {:.0}/s, Gatehouse {:.0}/s, without a database {:.0}/s",
            options.rounds, round.pgbench.rate, round.gatehouse_rate, round.ceiling_rate
        );
        rounds.push(round);
    }
    let gatehouse_rate = median(rounds.iter().map(|round| round.gatehouse_rate));
    let pgbench_rate = median(rounds.iter().map(|round| round.pgbench.rate));
    Ok(Submitted {
        machine,
        seed,
        bodies: options.bodies,
        mean_body_bytes: bench.variables.body.len(),
        connections: options.connections,
        search,
        gatehouse_rate,
        pgbench_rate,
        ratio: gatehouse_rate / pgbench_rate,
        ceiling_rate: median(rounds.iter().map(|round| round.ceiling_rate)),
        rounds,
    })
}

struct Bench<'a> {
    stack: &'a Stack,
    conn: PgConnection,
    requests: Vec<Vec<u8>>,
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
        let bodies: Vec<String> = (0..REQUESTS)
            .map(|number| match options.bodies {
                Bodies::Typical => texts.plain(number, TYPICAL_BYTES),
                Bodies::Mixed => texts.get(number).body,
            })
            .collect();
        let mean = bodies.iter().map(String::len).sum::<usize>() / bodies.len();
        let site = &stack.sites[0];
        let key: SiteKey = site.key.parse()?;
        let key_hash = hex::encode(key.hash().as_bytes());
        Ok(Self {
            stack,
            conn,
            requests: bodies
                .iter()
                .map(|body| http::submission(&site.key, APP_MEDIA_ID, body))
                .collect(),
            connections: options.connections,
            duration: Duration::from_secs(options.seconds),
            script: stack.write("plain.sql", pgbench::PLAIN)?,
            variables: Variables {
                key_hash,
                app_media_id: APP_MEDIA_ID.to_owned(),
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
        let healthz = [http::get("/healthz")];
        let address = self.stack.apis[0].address;
        let ceiling = load::closed(address, &healthz, self.connections, CEILING).await?;
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
        self.expect_media(measured.transactions).await?;
        Ok((measured, cost))
    }

    async fn own(&mut self) -> anyhow::Result<(load::Throughput, Cost)> {
        let address = self.stack.apis[0].address;
        load::closed(address, &self.requests, self.connections, WARM_UP).await?;
        empty_tables(&mut self.conn).await?;
        let meter = Meter::start(&mut self.conn).await?;
        let throughput =
            load::closed(address, &self.requests, self.connections, self.duration).await?;
        let cost = meter.stop(&mut self.conn, throughput.answered).await?;
        self.expect_media(throughput.answered).await?;
        Ok((throughput, cost))
    }

    /// What was counted must have been stored.
    async fn expect_media(&mut self, count: u64) -> anyhow::Result<()> {
        let stored: i64 = sqlx::query_scalar("select count(*) from media")
            .fetch_one(&mut self.conn)
            .await?;
        ensure!(
            u64::try_from(stored)? == count,
            "{count} were counted, but {stored} are stored"
        );
        Ok(())
    }
}

impl Report for Submitted {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("Submissions a second, against pgbench"),
            self.machine.line(),
            Line::fact(
                "bodies",
                format!("{} bytes on average", self.mean_body_bytes),
            ),
            Line::fact("seed", self.seed.to_string()),
            Line::heading("pgbench by clients"),
        ];
        let tried = self.search.iter();
        lines
            .extend(tried.map(|tried| {
                Line::fact(tried.clients.to_string(), format!("{:.0}/s", tried.rate))
            }));
        lines.push(Line::heading("Rounds"));
        for (number, round) in self.rounds.iter().enumerate() {
            let (own, plain) = (round.gatehouse_rate, round.pgbench.rate);
            let value = format!(
                "{own:.0}/s against {plain:.0}/s: {:.2}  ({})",
                own / plain,
                round.latency
            );
            lines.push(Line::fact((number + 1).to_string(), value));
        }
        lines.push(Line::heading("Medians"));
        lines.push(Line::fact(
            format!("Gatehouse, {} connections", self.connections),
            format!("{:.0}/s", self.gatehouse_rate),
        ));
        lines.push(Line::fact(
            "pgbench, best client count",
            format!("{:.0}/s", self.pgbench_rate),
        ));
        lines.push(Line::fact("ratio", format!("{:.2}", self.ratio)));
        lines.push(Line::fact(
            "without a database (/healthz)",
            format!("{:.0}/s", self.ceiling_rate),
        ));
        if let Some(last) = self.rounds.last() {
            lines.push(Line::heading("Cost in Postgres (last round)"));
            let plain = format!("{:.0}", last.pgbench_wal_bytes_per_item);
            lines.push(Line::fact("WAL bytes per item, pgbench", plain));
            lines.extend(cost_lines(&last.cost));
        }
        lines
    }
}
