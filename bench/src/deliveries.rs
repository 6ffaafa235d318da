//! Webhooks: how many a worker delivers per second, with every attempt recorded, compared with a
//! bare loop of the same requests; and whether healthy endpoints are affected by a dead one, a slow
//! one and one with a backlog.

pub(crate) mod backlog;
pub(crate) mod baseline;
mod neighbours;
pub(crate) mod slow_team;
mod table;

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use serde::Serialize;
use sqlx::PgConnection;
use store::jobs::WEBHOOKS;

use self::{backlog::Backlog, neighbours::Neighbours};
use crate::{
    latency::median,
    load::per_second,
    postgres_cost::{self, Cost, Meter, empty_tables},
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
};

/// How long the last deliveries may take.
const PATIENCE: Duration = Duration::from_mins(5);
const POLL: Duration = Duration::from_millis(10);

/// Options of `deliveries`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Deliveries of each round at full speed
    #[arg(long, default_value_t = 20_000)]
    deliveries: u32,
    /// Endpoints that they go to
    #[arg(long, default_value_t = 8)]
    endpoints: usize,
    /// Concurrent requests of the bare loop, and of the worker
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// Rounds, of both
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Deliveries that wait for the flooded endpoint
    #[arg(long, default_value_t = 100_000)]
    backlog: u32,
    /// Items per job; 0: a job for each delivery, as binaries without pages made them
    #[arg(long, default_value_t = 32)]
    page_turns: u32,
    /// Seconds of each round with neighbours; none skips them
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Only measure an endpoint beside a hundred slow ones of another team
    #[arg(long)]
    pub(crate) slow_team: bool,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Delivered {
    machine: Machine,
    deliveries: u32,
    page_turns: u32,
    endpoints: usize,
    connections: usize,
    rounds: Vec<Round>,
    /// The median over the rounds of what was delivered, divided by what the bare loop sent.
    ratio: f64,
    neighbours: Option<Neighbours>,
}

#[derive(Debug, Serialize)]
struct Round {
    /// Deliveries a second, from the first request to the last record.
    delivered: f64,
    /// Requests a second of the bare loop.
    bare: f64,
    cost: Cost,
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Delivered> {
    ensure!(
        options.deliveries.is_multiple_of(2),
        "--deliveries must be even: each item has two"
    );
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let shape = Shape {
        apis: 0,
        workers: 1,
        tenants: Tenants {
            sites: options.endpoints,
            sites_per_team: 1,
        },
        lease_seconds: 30,
        manners: Manners {
            careless: true,
            ..Manners::default()
        },
    };
    let stack = Stack::start(&options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let mut rounds = Vec::new();
    // The first round warms up connections and plans.
    for number in 0..=options.rounds {
        let bare = baseline::measure(
            stack.receiver.address(),
            options.deliveries,
            options.connections,
        )
        .await?;
        let (delivered, cost) = full_speed(&stack, &mut conn, &options).await?;
        if number > 0 {
            eprintln!("round {number}: {delivered:.0}/s, bare {bare:.0}/s");
            rounds.push(Round {
                delivered,
                bare,
                cost,
            });
        }
    }
    drop(stack);
    let neighbours = if options.seconds == 0 {
        None
    } else {
        Some(neighbours::run(&options, seed).await?)
    };
    Ok(Delivered {
        machine,
        deliveries: options.deliveries,
        page_turns: options.page_turns,
        endpoints: options.endpoints,
        connections: options.connections,
        ratio: median(rounds.iter().map(|round| round.delivered / round.bare)),
        rounds,
        neighbours,
    })
}

/// Delivers a backlog. Returns how many were delivered and recorded per second, and the cost of
/// each.
async fn full_speed(
    stack: &Stack,
    conn: &mut PgConnection,
    options: &Options,
) -> anyhow::Result<(f64, Cost)> {
    let deliveries = options.deliveries;
    queue::queues::pause(conn, WEBHOOKS, None).await?;
    empty_tables(conn).await?;
    let backlog = Backlog::of_all(conn).await?;
    backlog.fill(conn, deliveries, options.page_turns).await?;
    stack.receiver.clear();
    let meter = Meter::start(conn).await?;
    queue::queues::resume(conn, WEBHOOKS).await?;
    let begun = Instant::now();
    // Queries would disturb Postgres while it works.
    while stack.receiver.seen().taken < deliveries.into() {
        ensure!(begun.elapsed() < PATIENCE, "the backlog does not end");
        tokio::time::sleep(POLL).await;
    }
    while postgres_cost::jobs(conn).await? > 0 {
        ensure!(begun.elapsed() < PATIENCE, "the backlog does not end");
        tokio::time::sleep(POLL).await;
    }
    let recorded = Instant::now();
    let cost = meter.stop(conn, deliveries.into()).await?;
    let (attempts, delivered): (i64, i64) = sqlx::query_as(
        "select (select count(*) from delivery_attempts), (select count(*) from deliveries where state = 'delivered')",
    )
    .fetch_one(conn)
    .await?;
    let each = i64::from(deliveries);
    ensure!(
        (attempts, delivered) == (each, each),
        "{each} deliveries were expected, but {delivered} were delivered in {attempts} attempts"
    );
    let (first, _) = stack.receiver.seen().between.context("nothing came")?;
    Ok((per_second(deliveries.into(), recorded - first), cost))
}

/// Where webhooks of a site go.
fn url(receiver: SocketAddr, site: usize) -> String {
    format!("http://{receiver}/{site}")
}
