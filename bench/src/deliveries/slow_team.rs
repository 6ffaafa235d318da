//! One team has a hundred endpoints that answer just before the deadline of an attempt, and submits
//! a hundred items at once. Measures how long webhooks to the healthy endpoint of another team
//! take, before and meanwhile. Rounds of both take turns.

use std::time::{Duration, Instant};

use anyhow::ensure;
use domain::event::EventKind;
use serde::Serialize;
use sqlx::{Connection as _, PgConnection};
use store::endpoint;

use super::{Options, PATIENCE, POLL};
use crate::{
    latency::{Medians, Percentiles},
    load::{Ticks, ticks},
    postgres_cost::empty_tables,
    receiver::Manners,
    report::{Line, Machine, Report},
    sites::Tenants,
    stack::{Shape, Stack},
    texts::Texts,
    verdicts::{Sent, latencies, submit},
};

/// Sites, each of a team of its own.
const SLOW: usize = 0;
const WELL: usize = 1;
/// Endpoints of the slow site.
const ENDPOINTS: usize = 100;
/// How long each of them takes. The deadline of an attempt is 15 s.
const ANSWERS_AFTER: Duration = Duration::from_millis(14_500);
/// Items of the slow site, each with two webhooks for each of its endpoints.
const ITEMS: u64 = 100;
/// Items a second of the other.
const RATE: f64 = 20.0;
const WARM_UP_SECONDS: u64 = 3;

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct SlowTeam {
    machine: Machine,
    rate: f64,
    idle: Vec<Percentiles>,
    beside: Vec<Percentiles>,
    /// Medians over the rounds.
    idle_p95_ms: f64,
    beside_p95_ms: f64,
    /// The larger of twice the idle p95 and 50 ms more than that.
    bound_ms: f64,
}

/// Runs the measurement.
pub(crate) async fn run(options: Options) -> anyhow::Result<SlowTeam> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let shape = Shape {
        apis: 1,
        workers: 1,
        tenants: Tenants {
            sites: 2,
            sites_per_team: 1,
        },
        lease_seconds: 30,
        manners: Manners::default(),
    };
    let stack = Stack::start(&options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let mut pair = Pair {
        stack,
        conn,
        texts: Texts::new(seed),
    };
    pair.add_endpoints().await?;
    pair.round(WARM_UP_SECONDS).await?;
    let (mut idle, mut beside) = (Vec::new(), Vec::new());
    for number in 1..=options.rounds {
        pair.calm().await?;
        idle.push(pair.round(options.seconds).await?);
        pair.calm().await?;
        pair.burden().await?;
        beside.push(pair.round(options.seconds).await?);
        if let (Some(idle), Some(beside)) = (idle.last(), beside.last()) {
            eprintln!("round {number}: alone {idle}; beside {beside}");
        }
    }
    let (idle_p95_ms, beside_p95_ms) = (Medians::of(&idle).p95_ms, Medians::of(&beside).p95_ms);
    Ok(SlowTeam {
        machine,
        rate: RATE,
        idle,
        beside,
        idle_p95_ms,
        beside_p95_ms,
        bound_ms: (2.0 * idle_p95_ms).max(idle_p95_ms + 50.0),
    })
}

struct Pair {
    stack: Stack,
    conn: PgConnection,
    texts: Texts,
}

impl Pair {
    /// The slow site has one endpoint. The others lead to the same place.
    async fn add_endpoints(&mut self) -> anyhow::Result<()> {
        let site = self.stack.sites[SLOW].id;
        let url: String =
            sqlx::query_scalar("select url from webhook_endpoints where site_id = $1")
                .bind(site)
                .fetch_one(&mut self.conn)
                .await?;
        let mut tx = self.conn.begin().await?;
        for _ in 1..ENDPOINTS {
            endpoint::create(&mut tx, site.into(), &url, EventKind::ALL).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Nothing waits, and nothing is under way.
    async fn calm(&mut self) -> anyhow::Result<()> {
        self.stack.workers[0].kill().await?;
        empty_tables(&mut self.conn).await?;
        sqlx::query("truncate webhook_endpoint_states, queue.lanes")
            .execute(&mut self.conn)
            .await?;
        self.stack.workers[0].start().await
    }

    /// The slow team submits, and its first requests are under way.
    async fn burden(&mut self) -> anyhow::Result<()> {
        let slow = [(SLOW, ANSWERS_AFTER)];
        self.stack.receiver.slow_down(slow);
        self.submit(SLOW, &Ticks::at_once(ITEMS)).await?;
        let begun = Instant::now();
        let under_way = "select count(*) from queue.jobs where queue = 'webhooks' and state = 1";
        loop {
            let jobs: i64 = sqlx::query_scalar(under_way)
                .fetch_one(&mut self.conn)
                .await?;
            if jobs >= i64::try_from(ENDPOINTS)? {
                return Ok(());
            }
            ensure!(begun.elapsed() < PATIENCE, "the slow team is not served");
            tokio::time::sleep(POLL).await;
        }
    }

    /// How long webhooks to the healthy endpoint took, from when their submissions were due.
    async fn round(&mut self, seconds: u64) -> anyhow::Result<Percentiles> {
        self.stack.receiver.clear();
        let ticks = Ticks::start(RATE, ticks(RATE, seconds));
        let sent = self.submit(WELL, &ticks).await?;
        Ok(latencies(&self.stack, &sent).await?.percentiles())
    }

    async fn submit(&self, site: usize, ticks: &Ticks) -> anyhow::Result<Vec<Sent>> {
        let Stack { apis, sites, .. } = &self.stack;
        submit(apis[0].address, &sites[site], ticks, |number| {
            self.texts.get(number).body
        })
        .await
    }
}

impl Report for SlowTeam {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading(format!(
                "{} submissions a second of a team that is well, alone and beside {ITEMS} submissions of one with {ENDPOINTS} \
                 endpoints that answer after {ANSWERS_AFTER:?}",
                self.rate
            )),
            self.machine.line(),
        ];
        for (idle, beside) in self.idle.iter().zip(&self.beside) {
            lines.push(Line::fact("alone", idle.to_string()));
            lines.push(Line::fact("beside", beside.to_string()));
        }
        let verdict = if self.beside_p95_ms <= self.bound_ms {
            "met"
        } else {
            "missed"
        };
        lines.push(Line::fact(
            "median p95",
            format!(
                "{:.1} ms, beside {:.1} ms (goal at most {:.1} ms: {verdict})",
                self.idle_p95_ms, self.beside_p95_ms, self.bound_ms
            ),
        ));
        lines
    }
}
