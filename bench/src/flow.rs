//! The whole way of an item, from the submission to its `media.moderated` webhook: latency at a fixed rate beside bare round
//! trips, what an item costs in Postgres, and how fast everything goes at full speed.

mod table;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use clap::Args;
use domain::event::EventKind;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    http::{self, Client},
    latency::{Latencies, Percentiles, median},
    load::{self, Ticks, accepted, paced, ticks},
    meter::{self, Cost, Meter, empty_tables},
    processes::Kind,
    receiver::Manners,
    report::Machine,
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack},
    texts::Texts,
};

const SITES: usize = 4;
/// The bare round trips before each round: seconds at the round's rate.
const BARE_SECONDS: u64 = 5;
const WARM_UP_SECONDS: u64 = 3;
/// How long the last webhooks may take.
const PATIENCE: Duration = Duration::from_mins(2);
const POLL: Duration = Duration::from_millis(20);

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
}

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Flowed {
    machine: Machine,
    seed: u64,
    rate: f64,
    processes: String,
    measured: Measured,
    beside: Option<Measured>,
    ratios: Option<Ratios>,
}

/// What came out for one binary: the medians, and of what.
#[derive(Debug, Default, Serialize)]
struct Measured {
    p50_ms: f64,
    p99_ms: f64,
    statements_per_item: f64,
    claims_per_item: f64,
    /// Items a second at full speed.
    full_speed: Option<f64>,
    rounds: Vec<Round>,
}

/// Medians over the rounds of what one binary took or did, divided by what the other one did in the same round.
#[derive(Debug, Serialize)]
struct Ratios {
    p50: f64,
    p99: f64,
    full_speed: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Round {
    /// From the time a submission was due to the webhook's arrival.
    whole_way: Percentiles,
    /// From the time a submission was due to its answer.
    submission: Percentiles,
    /// `/healthz` of the same server at the same rate.
    bare_http: Percentiles,
    /// `select 1` in the same Postgres at the same rate.
    bare_sql: Percentiles,
    cost: Cost,
    drain: Option<Drain>,
}

#[derive(Debug, Serialize)]
struct Drain {
    items: u64,
    /// Answers a second while submitting.
    submitted_rate: f64,
    /// Items a second from the first submission to the last webhook.
    whole_rate: f64,
    cost: Cost,
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
    let mut conn = stack.ground.cluster.connect().await?;
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

impl Round {
    fn full_speed(&self) -> Option<f64> {
        self.drain.as_ref().map(|drain| drain.whole_rate)
    }

    fn summary(&self) -> String {
        let full_speed = self.full_speed().map(|rate| format!("; {rate:.0} items/s"));
        format!("{}{}", self.whole_way, full_speed.unwrap_or_default())
    }
}

impl Measured {
    fn of(rounds: Vec<Round>) -> Self {
        let full_speed: Vec<f64> = rounds.iter().filter_map(Round::full_speed).collect();
        Self {
            p50_ms: median(rounds.iter().map(|round| round.whole_way.p50_ms)),
            p99_ms: median(rounds.iter().map(|round| round.whole_way.p99_ms)),
            statements_per_item: median(rounds.iter().map(|r| r.cost.statements_per_item)),
            claims_per_item: median(rounds.iter().map(|r| r.cost.claims_per_item)),
            full_speed: (!full_speed.is_empty()).then(|| median(full_speed)),
            rounds,
        }
    }
}

impl Ratios {
    fn of(one: &Measured, other: &Measured) -> Self {
        let pairs = || one.rounds.iter().zip(&other.rounds);
        let speeds: Vec<f64> = pairs()
            .filter_map(|(one, other)| Some(one.full_speed()? / other.full_speed()?))
            .collect();
        Self {
            p50: median(pairs().map(|(one, other)| one.whole_way.p50_ms / other.whole_way.p50_ms)),
            p99: median(pairs().map(|(one, other)| one.whole_way.p99_ms / other.whole_way.p99_ms)),
            full_speed: (!speeds.is_empty()).then(|| median(speeds)),
        }
    }
}

struct Flow<'a> {
    options: &'a Options,
    stack: Stack,
    conn: PgConnection,
    texts: Texts,
}

/// A submission that was accepted.
struct Sent {
    media: Uuid,
    due: Instant,
    answered: Instant,
}

#[derive(Deserialize)]
struct Accepted {
    id: Uuid,
}

impl Flow<'_> {
    async fn round(&mut self) -> anyhow::Result<Round> {
        empty_tables(&mut self.conn).await?;
        let (rate, count) = (self.options.rate, ticks(self.options.rate, BARE_SECONDS));
        let mut client = Client::new(self.stack.apis[0].address);
        let healthz = http::get("/healthz");
        let bare_http = paced(rate, count, async || {
            accepted(&client.send(&healthz).await.map_err(std::io::Error::from)?)
        })
        .await?;
        let bare_sql = paced(rate, count, async || {
            sqlx::query("select 1").execute(&mut self.conn).await?;
            Ok(())
        })
        .await?;
        let meter = Meter::start(&mut self.conn).await?;
        let sent = self.at_rate(self.options.seconds).await?;
        let cost = meter.stop(&mut self.conn, sent.len() as u64).await?;
        let (mut submission, mut whole_way) = (Latencies::new(), Latencies::new());
        let seen = self.stack.receiver.seen();
        for Sent {
            media,
            due,
            answered,
        } in &sent
        {
            let arrival = seen
                .arrivals
                .get(&(*media, EventKind::MediaModerated))
                .context("a webhook got lost")?;
            submission.record(*answered - *due);
            whole_way.record(arrival.first - *due);
        }
        Ok(Round {
            whole_way: whole_way.percentiles(),
            submission: submission.percentiles(),
            bare_http: bare_http.percentiles(),
            bare_sql: bare_sql.percentiles(),
            cost,
            drain: None,
        })
    }

    /// Submits at the fixed rate and waits for every webhook.
    async fn at_rate(&mut self, seconds: u64) -> anyhow::Result<Vec<Sent>> {
        self.stack.receiver.clear();
        let count = ticks(self.options.rate, seconds);
        let sent = self.submit(&Ticks::start(self.options.rate, count)).await?;
        self.wait_for(count).await?;
        Ok(sent)
    }

    async fn submit(&self, ticks: &Ticks) -> anyhow::Result<Vec<Sent>> {
        let clients = (0..self.options.connections).map(|number| async move {
            let apis = &self.stack.apis;
            let mut client = Client::new(apis[number % apis.len()].address);
            let mut sent = Vec::new();
            while let Some(tick) = ticks.next().await {
                let request = self.request(tick.index);
                let answer = client.send(&request).await.map_err(std::io::Error::from)?;
                let answered = Instant::now();
                accepted(&answer)?;
                let Accepted { id } = serde_json::from_slice(&answer.body)?;
                sent.push(Sent {
                    media: id,
                    due: tick.due,
                    answered,
                });
            }
            anyhow::Ok(sent)
        });
        Ok(try_join_all(clients).await?.into_iter().flatten().collect())
    }

    fn request(&self, number: u64) -> Vec<u8> {
        let site = &self.stack.sites[usize::try_from(number).unwrap_or(0) % self.stack.sites.len()];
        http::submission(
            &site.key,
            &format!("flow-{number}"),
            &self.texts.get(number).body,
        )
    }

    /// Submits as fast as the answers come, while the workers work, and waits for every webhook.
    async fn drain(&mut self) -> anyhow::Result<Drain> {
        let items = self.options.drain_items;
        eprintln!("{items} items at full speed");
        empty_tables(&mut self.conn).await?;
        self.stack.receiver.clear();
        let meter = Meter::start(&mut self.conn).await?;
        let start = Instant::now();
        self.submit(&Ticks::at_once(items)).await?;
        let submitted = start.elapsed();
        self.wait_for(items).await?;
        let cost = meter.stop(&mut self.conn, items).await?;
        let seen = self.stack.receiver.seen();
        let last = seen
            .arrivals
            .values()
            .map(|arrival| arrival.first)
            .max()
            .unwrap_or(start);
        Ok(Drain {
            items,
            submitted_rate: load::per_second(items, submitted),
            whole_rate: load::per_second(items, last - start),
            cost,
        })
    }

    /// Waits until both webhooks of so many items came and no job is left, so that all their cost is counted.
    async fn wait_for(&mut self, items: u64) -> anyhow::Result<()> {
        let start = Instant::now();
        loop {
            let arrived = {
                let seen = self.stack.receiver.seen();
                ensure!(
                    seen.complaints == 0,
                    "the receiver complains: {}",
                    seen.examples.join("; ")
                );
                seen.arrivals.len() as u64
            };
            if arrived == 2 * items && meter::jobs(&mut self.conn).await? == 0 {
                return Ok(());
            }
            ensure!(
                start.elapsed() < PATIENCE,
                "{arrived} of {} webhooks came",
                2 * items
            );
            tokio::time::sleep(POLL).await;
        }
    }
}
