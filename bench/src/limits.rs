//! A provider limits tokens, and one team's long texts meet that limit. Measures how long another
//! team's short texts take, before and meanwhile. Rounds of both take turns.

use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use serde::Serialize;
use sqlx::PgConnection;

use crate::{
    latency::{Medians, Percentiles},
    load::{Ticks, ticks},
    postgres_cost::empty_tables,
    provider::{Asked, Provider},
    receiver::Manners,
    report::{Line, Machine, Report},
    sites::Tenants,
    stack::{CommonOptions, Shape, Stack, Surroundings},
    texts::Texts,
    verdicts::{Sent, latencies, submit},
};

/// Sites, each of a team of its own.
const LONG: usize = 0;
const SHORT: usize = 1;
const LONG_BYTES: usize = 100_000;
const SHORT_BYTES: usize = 50;
const WARM_UP_SECONDS: u64 = 3;
/// How long it may take until a long text meets the limit.
const PATIENCE: Duration = Duration::from_mins(5);
const POLL: Duration = Duration::from_millis(20);
/// How much the long texts may add to the p95 of the short ones. They may also double it.
const MORE_MS: f64 = 250.0;

/// Options of `limits`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: CommonOptions,
    /// Tokens a minute that the provider allows, of four bytes each
    #[arg(long, default_value_t = 10_000)]
    tokens: u32,
    /// Long texts, of 100 KB each, that are submitted at once
    #[arg(long, default_value_t = 3)]
    long_texts: u64,
    /// Short texts a second, of 50 bytes each
    #[arg(long, default_value_t = 2.0)]
    rate: f64,
    /// Seconds of each round
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Rounds, each alone and beside the long texts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

/// The results.
#[derive(Debug, Serialize)]
pub(crate) struct Limited {
    machine: Machine,
    tokens: u32,
    long_texts: u64,
    rate: f64,
    idle: Vec<Percentiles>,
    beside: Vec<Beside>,
    /// Medians over the rounds.
    idle_p95_ms: f64,
    beside_p95_ms: f64,
    /// The larger of twice the idle p95 and 250 ms more than that.
    bound_ms: f64,
}

/// A round beside long texts.
#[derive(Debug, Serialize)]
struct Beside {
    latency: Percentiles,
    asked: Asked,
}

/// Runs the measurement.
pub(crate) async fn run(options: Options) -> anyhow::Result<Limited> {
    let load_before = Machine::load_before();
    let seed = options.common.seed();
    let provider = Provider::start(options.tokens, Duration::ZERO).await?;
    let surroundings = Surroundings {
        environment: vec![
            ("GATEHOUSE_PROVIDERS", "openai".to_owned()),
            (
                "GATEHOUSE_OPENAI_URL",
                format!("http://{}", provider.address),
            ),
            ("GATEHOUSE_OPENAI_API_KEY", "sk-bench".to_owned()),
        ],
        ..Surroundings::default()
    };
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
    let stack = Stack::start_in(surroundings, &options.common, shape, seed).await?;
    let mut conn = stack.environment.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let mut pair = Pair {
        options: &options,
        provider,
        stack,
        conn,
        texts: Texts::new(seed),
    };
    pair.round(WARM_UP_SECONDS).await?;
    let (mut idle, mut beside) = (Vec::new(), Vec::new());
    for number in 1..=options.rounds {
        pair.calm().await?;
        let alone = pair.round(options.seconds).await?;
        pair.calm().await?;
        pair.burden().await?;
        let latency = pair.round(options.seconds).await?;
        let asked = pair.provider.asked();
        eprintln!("round {number}: alone {alone}; beside {latency}");
        idle.push(alone);
        beside.push(Beside { latency, asked });
    }
    let besides: Vec<Percentiles> = beside.iter().map(|beside| beside.latency).collect();
    let idle_p95_ms = Medians::of(&idle).p95_ms;
    Ok(Limited {
        machine,
        tokens: options.tokens,
        long_texts: options.long_texts,
        rate: options.rate,
        idle,
        beside,
        idle_p95_ms,
        beside_p95_ms: Medians::of(&besides).p95_ms,
        bound_ms: (2.0 * idle_p95_ms).max(idle_p95_ms + MORE_MS),
    })
}

struct Pair<'a> {
    options: &'a Options,
    provider: Provider,
    stack: Stack,
    conn: PgConnection,
    texts: Texts,
}

impl Pair<'_> {
    /// Nothing waits, and the provider allows everything.
    async fn calm(&mut self) -> anyhow::Result<()> {
        self.stack.workers[0].kill().await?;
        empty_tables(&mut self.conn).await?;
        sqlx::query("truncate provider_states")
            .execute(&mut self.conn)
            .await?;
        self.provider.refill();
        self.stack.workers[0].start().await
    }

    /// The long texts are submitted, and one of them has met the limit.
    async fn burden(&mut self) -> anyhow::Result<()> {
        let ticks = Ticks::at_once(self.options.long_texts);
        self.submit(LONG, LONG_BYTES, &ticks).await?;
        let begun = Instant::now();
        while self.provider.asked().limited == 0 {
            ensure!(begun.elapsed() < PATIENCE, "no long text met the limit");
            tokio::time::sleep(POLL).await;
        }
        Ok(())
    }

    /// How long the verdicts of short texts took, from when their submissions were due.
    async fn round(&mut self, seconds: u64) -> anyhow::Result<Percentiles> {
        self.stack.receiver.clear();
        let rate = self.options.rate;
        let ticks = Ticks::start(rate, ticks(rate, seconds));
        let sent = self.submit(SHORT, SHORT_BYTES, &ticks).await?;
        Ok(latencies(&self.stack, &sent).await?.percentiles())
    }

    async fn submit(&self, site: usize, bytes: usize, ticks: &Ticks) -> anyhow::Result<Vec<Sent>> {
        let Stack { apis, sites, .. } = &self.stack;
        submit(apis[0].address, &sites[site], ticks, |number| {
            self.texts.plain(number, bytes)
        })
        .await
    }
}

impl Report for Limited {
    fn lines(&self) -> Vec<Line> {
        let mut lines = vec![
            Line::heading(format!(
                "{} texts of {SHORT_BYTES} bytes a second, alone and beside {} texts of {LONG_BYTES} bytes of another team, at a \
                 provider that allows {} tokens a minute",
                self.rate, self.long_texts, self.tokens
            )),
            self.machine.line(),
        ];
        for (idle, Beside { latency, asked }) in self.idle.iter().zip(&self.beside) {
            lines.push(Line::fact("alone", idle.to_string()));
            let asked = format!("{} answered, {} limited", asked.answered, asked.limited);
            lines.push(Line::fact("beside", format!("{latency}; {asked}")));
        }
        let verdict = if self.holds() { "met" } else { "missed" };
        lines.push(Line::fact(
            "median p95",
            format!(
                "{:.1} ms, beside {:.1} ms (goal at most {:.1} ms: {verdict})",
                self.idle_p95_ms, self.beside_p95_ms, self.bound_ms
            ),
        ));
        lines
    }

    /// Whether the long texts delay the short ones no more than permitted.
    fn holds(&self) -> bool {
        self.beside_p95_ms <= self.bound_ms
    }
}
