//! Answers that wait for the verdict (`Prefer: wait`), beside clients that ask for it, and beside webhooks. And many that wait at
//! once, while no worker runs.

mod concurrent_waits;
mod table;

use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) use self::table::Waited;
use self::{concurrent_waits::crowd, table::Medians3};
use crate::{
    http::{self, Client},
    latency::{Latencies, Percentiles},
    load::{Ticks, accepted, ticks},
    processes::Kind,
    receiver::Manners,
    report::Machine,
    sites::{Site, Tenants},
    stack::{CommonOptions, Shape, Stack},
    texts::Texts,
    verdicts,
};

const SITES: usize = 4;
const WARM_UP_SECONDS: u64 = 3;
/// The length of a submission's text.
const TEXT_BYTES: usize = 300;
/// A client that asks for the verdict pauses so long before each question.
const ASK_EVERY: Duration = Duration::from_millis(10);

/// Options of `waits`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Items a second
    #[arg(long, default_value_t = 100.0)]
    rate: f64,
    /// Seconds of each part of a round
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Rounds, each with every part in turn
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// Connections that submit
    #[arg(long, default_value_t = 64)]
    connections: usize,
    /// API and worker processes in place of one `gatehouse up`
    #[arg(long)]
    apart: bool,
    /// Requests that wait at the same time while no worker runs; none skips it
    #[arg(long, default_value_t = 2_000)]
    crowd: usize,
}

/// How long verdicts took, from when their submissions were due.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Round {
    /// In the answer of the submission.
    pub(super) waited: Percentiles,
    /// In the answer of a status query.
    pub(super) asked: Percentiles,
    /// At the receiver of the webhook.
    pub(super) told: Percentiles,
}

/// Runs the measurement.
pub(crate) async fn run(options: Options) -> anyhow::Result<Waited> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let mut stack = start(&options, if options.apart { (1, 1) } else { (0, 0) }, seed).await?;
    if !options.apart {
        let up = stack.gatehouse.start(Kind::Up, 0).await?;
        stack.apis.push(up);
    }
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let mut submitter = Submitter {
        stack: &stack,
        connections: options.connections,
        texts: Texts::new(seed),
        submitted: 0,
    };
    submitter.wait(&ticks_of(&options, WARM_UP_SECONDS)).await?;
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let ticks = || ticks_of(&options, options.seconds);
        let parts = if number % 2 == 1 {
            [0, 1, 2]
        } else {
            [2, 1, 0]
        };
        let (mut waited, mut asked, mut told) = (None, None, None);
        for part in parts {
            match part {
                0 => waited = Some(submitter.wait(&ticks()).await?),
                1 => asked = Some(submitter.ask(&ticks()).await?),
                _ => told = Some(submitter.receive(&ticks()).await?),
            }
        }
        let round = Round {
            waited: waited.context("every part runs")?,
            asked: asked.context("every part runs")?,
            told: told.context("every part runs")?,
        };
        eprintln!(
            "round {number}: in the answer {}; asked {}; webhook {}",
            round.waited, round.asked, round.told
        );
        rounds.push(round);
    }
    drop(stack);
    let crowd = if options.crowd == 0 {
        None
    } else {
        let mut stack = start(&options, (1, 0), seed).await?;
        Some(crowd(&mut stack, options.crowd, seed).await?)
    };
    Ok(Waited {
        machine,
        seed,
        rate: options.rate,
        processes: if options.apart {
            "1 API, 1 worker"
        } else {
            "one `up`"
        },
        medians: Medians3::of(&rounds),
        rounds,
        crowd,
    })
}

async fn start(
    options: &Options,
    (apis, workers): (usize, usize),
    seed: u64,
) -> anyhow::Result<Stack> {
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
    Stack::start(&options.common, shape, seed).await
}

fn ticks_of(options: &Options, seconds: u64) -> Ticks {
    Ticks::start(options.rate, ticks(options.rate, seconds))
}

#[derive(Deserialize)]
struct Answered {
    id: Uuid,
    status: String,
}

impl Answered {
    fn is_decided(&self) -> bool {
        self.status != "pending"
    }
}

struct Submitter<'a> {
    stack: &'a Stack,
    connections: usize,
    texts: Texts,
    /// So that no two texts are the same.
    submitted: u64,
}

impl Submitter<'_> {
    /// Submits with each tick, and waits for the verdict in the answer.
    async fn wait(&mut self, ticks: &Ticks) -> anyhow::Result<Percentiles> {
        let latencies = self
            .each(
                ticks,
                async |client, request, _| {
                    let answer = client.send(request).await.map_err(std::io::Error::from)?;
                    accepted(&answer)?;
                    let answered: Answered = serde_json::from_slice(&answer.body)?;
                    ensure!(answered.is_decided(), "a wait ended without a verdict");
                    Ok(())
                },
                true,
            )
            .await?;
        Ok(latencies.percentiles())
    }

    /// Submits with each tick, and asks for the status until there is a verdict.
    async fn ask(&mut self, ticks: &Ticks) -> anyhow::Result<Percentiles> {
        let latencies = self
            .each(
                ticks,
                async |client, request, site| {
                    let answer = client.send(request).await.map_err(std::io::Error::from)?;
                    accepted(&answer)?;
                    let Answered { id, .. } = serde_json::from_slice(&answer.body)?;
                    let query = http::status_query(&site.key, id);
                    loop {
                        tokio::time::sleep(ASK_EVERY).await;
                        let answer = client.send(&query).await.map_err(std::io::Error::from)?;
                        accepted(&answer)?;
                        let Status { status } = serde_json::from_slice(&answer.body)?;
                        if status != "pending" {
                            return Ok(());
                        }
                    }
                },
                false,
            )
            .await?;
        Ok(latencies.percentiles())
    }

    /// Submits with each tick, until the receiver has the webhook.
    async fn receive(&mut self, ticks: &Ticks) -> anyhow::Result<Percentiles> {
        self.stack.receiver.clear();
        let (texts, before) = (self.texts, self.submitted);
        let address = self.stack.apis[0].address;
        let clients = (0..self.connections).zip(self.stack.sites.iter().cycle());
        let clients = clients.map(|(_, site)| {
            verdicts::submit(address, site, ticks, move |index| {
                texts.plain(before + index, TEXT_BYTES)
            })
        });
        let sent: Vec<_> = try_join_all(clients).await?.into_iter().flatten().collect();
        self.submitted += sent.len() as u64;
        let latencies = verdicts::latencies(self.stack, &sent).await?;
        Ok(latencies.percentiles())
    }

    /// Does something with each tick, and measures how long it takes from when it was due.
    async fn each(
        &mut self,
        ticks: &Ticks,
        act: impl AsyncFn(&mut Client, &[u8], &Site) -> anyhow::Result<()>,
        waits: bool,
    ) -> anyhow::Result<Latencies> {
        let address = self.stack.apis[0].address;
        let clients = (0..self.connections).zip(self.stack.sites.iter().cycle());
        let clients = clients.map(async |(_, site)| {
            let mut client = Client::new(address);
            let mut latencies = Latencies::new();
            while let Some(tick) = ticks.next().await {
                let number = self.submitted + tick.index;
                let text = self.texts.plain(number, TEXT_BYTES);
                let tag = format!("item-{number}");
                let request = if waits {
                    http::waiting_submission(&site.key, &tag, &text)
                } else {
                    http::submission(&site.key, &tag, &text)
                };
                act(&mut client, &request, site).await?;
                latencies.record(tick.due.elapsed());
            }
            anyhow::Ok(latencies)
        });
        let mut merged = Latencies::new();
        for own in try_join_all(clients).await? {
            merged.merge(&own);
        }
        self.submitted += merged.count();
        Ok(merged)
    }
}

#[derive(Deserialize)]
struct Status {
    status: String,
}
