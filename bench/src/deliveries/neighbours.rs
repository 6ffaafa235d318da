//! A hundred endpoints: how long webhooks to healthy endpoints take when all are healthy, and when
//! one is dead, one slow, and one has a backlog. Rounds of both take turns.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use domain::event::EventKind;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use sqlx::PgConnection;
use uuid::Uuid;

use super::{Options, PATIENCE, POLL, backlog::Backlog};
use crate::{
    http::{self, Client},
    latency::{Latencies, Medians, Percentiles},
    load::{Ticks, accepted, ticks},
    postgres_cost::empty_tables,
    receiver::Manners,
    sites::Tenants,
    stack::{Shape, Stack},
    texts::Texts,
};

const ENDPOINTS: usize = 100;
/// Never answers within the deadline of an attempt.
const DEAD: usize = 0;
const SLOW: usize = 1;
const FLOODED: usize = 2;
/// Submissions a second, taking turns over all sites.
const RATE: f64 = 50.0;
const CONNECTIONS: usize = 16;
const WARM_UP_SECONDS: u64 = 3;

/// The results.
#[derive(Debug, Serialize)]
pub(super) struct Neighbours {
    pub(super) backlog: u32,
    pub(super) rate: f64,
    pub(super) idle: Vec<Percentiles>,
    pub(super) troubled: Vec<Percentiles>,
    /// Medians over the rounds.
    pub(super) idle_p99_ms: f64,
    pub(super) troubled_p99_ms: f64,
    /// The larger of twice the idle p99 and 25 ms more than that.
    pub(super) bound_ms: f64,
}

pub(super) async fn run(options: &Options, seed: u64) -> anyhow::Result<Neighbours> {
    let shape = Shape {
        apis: 1,
        workers: 1,
        tenants: Tenants {
            sites: ENDPOINTS,
            sites_per_team: 1,
        },
        lease_seconds: 30,
        manners: Manners::default(),
    };
    let stack = Stack::start(&options.common, shape, seed).await?;
    let conn = stack.environment.cluster.connect().await?;
    let mut testbed = Testbed {
        stack,
        conn,
        texts: Texts::new(seed),
    };
    testbed.round(WARM_UP_SECONDS).await?;
    let (mut idle, mut troubled) = (Vec::new(), Vec::new());
    for number in 1..=options.rounds {
        testbed.calm().await?;
        idle.push(testbed.round(options.seconds).await?);
        testbed.trouble(options).await?;
        troubled.push(testbed.round(options.seconds).await?);
        if let (Some(idle), Some(troubled)) = (idle.last(), troubled.last()) {
            eprintln!("round {number}: all well {idle}; troubled {troubled}");
        }
    }
    let (idle_p99_ms, troubled_p99_ms) = (Medians::of(&idle).p99_ms, Medians::of(&troubled).p99_ms);
    Ok(Neighbours {
        backlog: options.backlog,
        rate: RATE,
        idle,
        troubled,
        idle_p99_ms,
        troubled_p99_ms,
        bound_ms: (2.0 * idle_p99_ms).max(idle_p99_ms + 25.0),
    })
}

struct Testbed {
    stack: Stack,
    conn: PgConnection,
    texts: Texts,
}

#[derive(Deserialize)]
struct Accepted {
    id: Uuid,
}

impl Testbed {
    /// Makes all endpoints healthy, with nothing waiting.
    async fn calm(&mut self) -> anyhow::Result<()> {
        // Otherwise the worker's current requests would continue in the next round.
        self.stack.workers[0].kill().await?;
        self.stack.receiver.slow_down([]);
        empty_tables(&mut self.conn).await?;
        sqlx::query("truncate webhook_endpoint_states, queue.lanes")
            .execute(&mut self.conn)
            .await?;
        self.stack.workers[0].start().await
    }

    async fn trouble(&mut self, options: &Options) -> anyhow::Result<()> {
        self.calm().await?;
        let (dead, slow) = (Duration::from_mins(1), Duration::from_secs(5));
        self.stack.receiver.slow_down([(DEAD, dead), (SLOW, slow)]);
        let flooded = format!("/{FLOODED}");
        let flooded = Backlog::of(&mut self.conn, &flooded).await?;
        flooded
            .fill(&mut self.conn, options.backlog, options.page_turns)
            .await
    }

    /// How long webhooks to healthy endpoints took, from when their submissions were due.
    async fn round(&mut self, seconds: u64) -> anyhow::Result<Percentiles> {
        self.stack.receiver.clear();
        let sent = self.submit(seconds).await?;
        let well: Vec<_> = sent
            .iter()
            .filter(|(site, ..)| ![DEAD, SLOW, FLOODED].contains(site))
            .collect();
        let begun = Instant::now();
        loop {
            {
                let seen = self.stack.receiver.seen();
                let told = |media: Uuid| EventKind::ALL.iter().map(move |kind| (media, *kind));
                let mut awaited = well.iter().flat_map(|(_, media, _)| told(*media));
                if awaited.all(|key| seen.by_event.contains_key(&key)) {
                    break;
                }
            }
            ensure!(begun.elapsed() < PATIENCE, "webhooks got lost");
            tokio::time::sleep(POLL).await;
        }
        let seen = self.stack.receiver.seen();
        let mut latencies = Latencies::new();
        for (_, media, due) in well {
            let arrival = seen.by_event.get(&(*media, EventKind::MediaModerated));
            latencies.record(arrival.context("a webhook got lost")?.first - *due);
        }
        Ok(latencies.percentiles())
    }

    /// Site, item, and when it was due.
    async fn submit(&self, seconds: u64) -> anyhow::Result<Vec<(usize, Uuid, Instant)>> {
        let ticks = Ticks::start(RATE, ticks(RATE, seconds));
        let clients = (0..CONNECTIONS).map(|_| async {
            let mut client = Client::new(self.stack.apis[0].address);
            let mut sent = Vec::new();
            while let Some(tick) = ticks.next().await {
                let site = usize::try_from(tick.index)? % self.stack.sites.len();
                let request = http::submission(
                    &self.stack.sites[site].key,
                    &format!("neighbour-{}", tick.index),
                    &self.texts.get(tick.index).body,
                );
                let answer = client.send(&request).await.map_err(std::io::Error::from)?;
                accepted(&answer)?;
                let Accepted { id } = serde_json::from_slice(&answer.body)?;
                sent.push((site, id, tick.due));
            }
            anyhow::Ok(sent)
        });
        Ok(try_join_all(clients).await?.into_iter().flatten().collect())
    }
}
