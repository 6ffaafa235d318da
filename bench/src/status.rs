//! Status queries a second against one API process with nothing else running, about items of which half are decided and half
//! are pending, beside the same server without a database.

use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use serde::Serialize;
use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use crate::{
    http,
    latency::{Medians, Percentiles, median},
    load::{self, Extent},
    meter::{self, Cost, Meter},
    receiver::Manners,
    report::{Line, Machine, Report, against_goal, cost_lines},
    requests::Requests,
    sites::{Site, Tenants},
    stack::{CommonOptions, Shape, Stack},
    submit::{SITES_PER_TEAM, TYPICAL_BYTES},
    texts::Texts,
};

const WARM_UP: Duration = Duration::from_secs(2);
const CEILING: Duration = Duration::from_secs(3);
/// How long the worker may take to decide its half.
const PATIENCE: Duration = Duration::from_mins(5);
const POLL: Duration = Duration::from_millis(50);
/// Status queries for each answer without a database.
const CEILING_GOAL: f64 = 0.3;

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

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Asked {
    machine: Machine,
    seed: u64,
    sites: usize,
    decided: u64,
    pending: u64,
    connections: usize,
    rounds: Vec<Round>,
    /// Medians over the rounds.
    rate: f64,
    latency: Medians,
    /// Answers a second of the same server without a database.
    ceiling_rate: f64,
    /// The one rate divided by the other.
    ceiling_share: f64,
}

#[derive(Debug, Serialize)]
struct Round {
    rate: f64,
    latency: Percentiles,
    cost: Cost,
    ceiling_rate: f64,
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
    let mut conn = stack.ground.cluster.connect().await?;
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

/// Submits all items: a worker decides the first half and is gone before the second comes. Returns how many are decided and
/// how many are pending.
async fn submit(
    stack: &mut Stack,
    conn: &mut PgConnection,
    options: &Options,
    seed: u64,
) -> anyhow::Result<(u64, u64)> {
    let texts = Texts::new(seed);
    let text = |number| texts.plain(number, TYPICAL_BYTES);
    let requests = Requests::submissions(&stack.sites, true, text);
    let address = stack.apis[0].address;
    let first = options.items / 2;
    eprintln!(
        "submitting {} items, half of which a worker decides",
        options.items
    );
    load::closed(address, &requests, options.connections, Extent::Of(first)).await?;
    let submitted = Instant::now();
    while meter::jobs(conn).await? > 0 {
        ensure!(
            submitted.elapsed() < PATIENCE,
            "the worker does not come to an end"
        );
        tokio::time::sleep(POLL).await;
    }
    for worker in &mut stack.workers {
        worker.kill().await?;
    }
    let rest = Extent::Of(options.items - first);
    load::closed(address, &requests, options.connections, rest).await?;
    let counted = sqlx::query(
        "
        select count(*) filter (where status <> 'pending') as decided, count(*) filter (where status = 'pending') as pending
        from media
        ",
    )
    .fetch_one(&mut *conn)
    .await?;
    let (decided, pending): (i64, i64) = (counted.get("decided"), counted.get("pending"));
    let (decided, pending) = (decided.unsigned_abs(), pending.unsigned_abs());
    ensure!(
        (decided, pending) == (first, options.items - first),
        "{decided} items are decided and {pending} are pending"
    );
    Ok((decided, pending))
}

/// A query about each item, in an order that has nothing to do with their age.
async fn queries(conn: &mut PgConnection, sites: &[Site]) -> anyhow::Result<Requests> {
    let ids: Vec<Uuid> = sites.iter().map(|site| site.id).collect();
    let rows = sqlx::query(
        "
        select m.id, s.number
        from media m
        join unnest($1::uuid []) with ordinality as s (id, number) on s.id = m.site_id
        order by md5(m.id::text)
        ",
    )
    .bind(ids)
    .fetch_all(&mut *conn)
    .await?;
    sqlx::query("vacuum analyze media, verdicts")
        .execute(conn)
        .await?;
    let queries = rows.iter().map(|row| {
        let site = usize::try_from(row.get::<i64, _>("number") - 1)?;
        Ok(http::status_query(&sites[site].key, row.get("id")))
    });
    Ok(Requests::new(queries.collect::<anyhow::Result<Vec<_>>>()?))
}

struct Bench<'a> {
    stack: &'a Stack,
    conn: PgConnection,
    queries: Requests,
    connections: usize,
    duration: Duration,
}

impl Bench<'_> {
    async fn round(&mut self) -> anyhow::Result<Round> {
        let healthz = Requests::new([http::get("/healthz")]);
        let ceiling = Extent::Lasting(CEILING.min(self.duration));
        let address = self.stack.apis[0].address;
        let ceiling = load::closed(address, &healthz, self.connections, ceiling).await?;
        let meter = Meter::start(&mut self.conn).await?;
        let asked = self.ask(self.duration).await?;
        let cost = meter.stop(&mut self.conn, asked.answered).await?;
        self.expect_counting().await?;
        Ok(Round {
            rate: asked.rate(),
            latency: asked.latencies.percentiles(),
            cost,
            ceiling_rate: ceiling.rate(),
        })
    }

    async fn ask(&self, duration: Duration) -> anyhow::Result<load::Throughput> {
        let address = self.stack.apis[0].address;
        let extent = Extent::Lasting(duration);
        load::closed(address, &self.queries, self.connections, extent).await
    }

    /// The rate of every key must have been counted.
    async fn expect_counting(&mut self) -> anyhow::Result<()> {
        let counted: i64 = sqlx::query_scalar(
            "select count(*) from rate_windows where policy = 'status' and given > 0",
        )
        .fetch_one(&mut self.conn)
        .await?;
        ensure!(
            usize::try_from(counted)? == self.stack.sites.len().min(self.queries.len()),
            "the rates of {counted} keys were counted"
        );
        Ok(())
    }
}

impl Report for Asked {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading("Status queries a second"),
            self.machine.line(),
            Line::fact(
                "items",
                format!(
                    "{} decided, {} pending, of {} sites",
                    self.decided, self.pending, self.sites
                ),
            ),
            Line::fact("seed", self.seed.to_string()),
            Line::heading("Rounds"),
        ];
        for (number, round) in self.rounds.iter().enumerate() {
            let Round {
                rate,
                latency,
                ceiling_rate,
                ..
            } = round;
            let value = format!("{rate:.0}/s of {ceiling_rate:.0}/s  ({latency})");
            lines.push(Line::fact((number + 1).to_string(), value));
        }
        lines.push(Line::heading("Medians"));
        lines.push(Line::fact(
            format!("Gatehouse, {} connections", self.connections),
            format!("{:.0}/s, {}", self.rate, self.latency),
        ));
        lines.push(Line::fact(
            "without a database (/healthz)",
            format!("{:.0}/s", self.ceiling_rate),
        ));
        lines.push(Line::fact(
            "share of that",
            against_goal(self.ceiling_share, CEILING_GOAL),
        ));
        if let Some(last) = self.rounds.last() {
            lines.push(Line::heading("Cost in Postgres (last round)"));
            lines.extend(cost_lines(&last.cost));
        }
        lines
    }
}
