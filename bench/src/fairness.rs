//! Two promises about what jobs of others may cost: a newcomer's wait beside another customer's backlog, and claims after
//! a million jobs were finished, or with a million scheduled.

use std::time::Duration;

use clap::Args;
use serde::Serialize;
use sqlx::PgConnection;

use crate::{
    claims::Claimer,
    clock::now_us,
    cluster::Role,
    fill::{analyze, empty, fill},
    ground::{Ground, GroundOptions},
    latency::{Latencies, Percentiles, median},
    protocol::{Request, Work},
    remote::Remote,
    report::{Line, Machine, Report},
};

/// The lane of the customer with few jobs; the other's is 0.
const NEWCOMER: u64 = 1;
const NEWCOMERS_JOBS: u64 = 10;
/// How much longer than idle a newcomer may wait, whatever idle is.
const MARGIN_MS: f64 = 25.0;
/// How long the backlog is worked on before the newcomer comes.
const HEAD_START: Duration = Duration::from_secs(1);
/// Jobs to a claim whose time is taken, and lanes that they are in.
const CLAIM: i32 = 100;
const LANES: u64 = 100;
const HOUR: Duration = Duration::from_hours(1);

/// How long the worker lives on after it has finished a million jobs.
const SETTLING: Duration = Duration::from_secs(5);

/// Options of `fairness`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) ground: GroundOptions,
    /// Rounds of idle and busy in turn
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Jobs of the other customer
    #[arg(long, default_value_t = 100_000)]
    backlog: u64,
    /// Jobs that run at once, and as many are claimed ahead
    #[arg(long, default_value_t = 64)]
    concurrency: usize,
    /// How long a job takes, in milliseconds
    #[arg(long, default_value_t = 5)]
    job_ms: u64,
    /// Jobs finished, or scheduled, before claims are timed
    #[arg(long, default_value_t = 1_000_000)]
    million: u64,
    /// Jobs that are claimed then
    #[arg(long, default_value_t = 100_000)]
    claimed: u64,
    /// Everything at a twentieth of the size: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Fair {
    machine: Machine,
    backlog: u64,
    million: u64,
    rounds: Vec<Round>,
    /// Medians of the newcomer's 95th percentile over the rounds.
    idle_ms: f64,
    busy_ms: f64,
    /// What `busy_ms` may be at most.
    bound_ms: f64,
    fresh: Percentiles,
    finished: Percentiles,
    scheduled: Percentiles,
}

/// The newcomer's waits.
#[derive(Debug, Serialize)]
struct Round {
    idle: Percentiles,
    busy: Percentiles,
}

/// Runs the benchmark.
pub(crate) async fn run(mut options: Options) -> anyhow::Result<Fair> {
    if options.quick {
        options.backlog /= 20;
        options.million /= 20;
        options.claimed /= 20;
        options.rounds = options.rounds.min(3);
    }
    let load_before = Machine::load_before();
    let (ground, pool) = Ground::with_queue(&options.ground).await?;
    pool.close().await;
    let mut conn = ground.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let bench = Bench {
        options: &options,
        ground: &ground,
    };
    let mut rounds = Vec::new();
    for number in 1..=options.rounds {
        let (idle, busy) = if number % 2 == 1 {
            let idle = bench.newcomer(&mut conn, 0).await?;
            (idle, bench.newcomer(&mut conn, options.backlog).await?)
        } else {
            let busy = bench.newcomer(&mut conn, options.backlog).await?;
            (bench.newcomer(&mut conn, 0).await?, busy)
        };
        eprintln!(
            "round {number} of {}: idle {idle}; busy {busy}",
            options.rounds
        );
        rounds.push(Round { idle, busy });
    }
    let idle_ms = median(rounds.iter().map(|round| round.idle.p95_ms));

    eprintln!("claims of a fresh table");
    empty(&mut conn).await?;
    let fresh = bench.claims(&mut conn, true).await?;
    eprintln!("  {fresh}\nclaims with {} scheduled", options.million);
    empty(&mut conn).await?;
    fill(&mut conn, mixed(options.million), HOUR).await?;
    let scheduled = bench.claims(&mut conn, true).await?;
    eprintln!(
        "  {scheduled}\nclaims right after {} were finished",
        options.million
    );
    empty(&mut conn).await?;
    bench.wear(&mut conn).await?;
    let finished = bench.claims(&mut conn, false).await?;
    eprintln!("  {finished}");
    Ok(Fair {
        machine,
        backlog: options.backlog,
        million: options.million,
        busy_ms: median(rounds.iter().map(|round| round.busy.p95_ms)),
        bound_ms: (2.0 * idle_ms).max(idle_ms + MARGIN_MS),
        idle_ms,
        rounds,
        fresh,
        finished,
        scheduled,
    })
}

struct Bench<'a> {
    options: &'a Options,
    ground: &'a Ground,
}

impl Bench<'_> {
    /// How long ten jobs of one customer wait for their start while another's backlog is worked on.
    async fn newcomer(&self, conn: &mut PgConnection, backlog: u64) -> anyhow::Result<Percentiles> {
        empty(conn).await?;
        fill(conn, (0..backlog).map(|_| 0), Duration::ZERO).await?;
        analyze(conn, true).await?;
        let mut producer = self.driver().await?;
        let mut worker = self.driver().await?;
        worker.order(Request::Work(self.work())).await?;
        // Connections and plans are there before the clock runs.
        add(&mut producer, NEWCOMER, 20).await?;
        tokio::time::sleep(HEAD_START).await;
        worker.order(Request::Latencies).await?;
        add(&mut producer, NEWCOMER, NEWCOMERS_JOBS).await?;
        let mut waits: Vec<u64> = Vec::new();
        while (waits.len() as u64) < NEWCOMERS_JOBS {
            waits.append(&mut worker.ask(Request::Latencies).await?);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        worker.order(Request::Stop).await?;
        worker.end().await?;
        producer.end().await?;
        Ok(Latencies::of_micros(&waits).percentiles())
    }

    /// Has a worker finish very many jobs, after which nothing cleans up.
    async fn wear(&self, conn: &mut PgConnection) -> anyhow::Result<()> {
        sqlx::query("alter table queue.jobs set (autovacuum_enabled = false)")
            .execute(&mut *conn)
            .await?;
        fill(conn, mixed(self.options.million), Duration::ZERO).await?;
        analyze(conn, true).await?;
        let mut worker = self.driver().await?;
        worker.order(Request::Work(Work::FULL_SPEED)).await?;
        let ran = self.options.million;
        worker.order(Request::Await { ran }).await?;
        // The generation is left by a living process, once a second.
        tokio::time::sleep(SETTLING).await;
        worker.order(Request::Stop).await?;
        worker.end().await
    }

    /// Claims and finishes what it adds, and says how long the claims took.
    async fn claims(&self, conn: &mut PgConnection, clean: bool) -> anyhow::Result<Percentiles> {
        fill(conn, mixed(self.options.claimed), Duration::ZERO).await?;
        analyze(conn, clean).await?;
        let mut claimer = Claimer::new(self.ground.cluster.connect().await?);
        let mut latencies = Latencies::new();
        loop {
            let batch = claimer.claim(CLAIM).await?;
            if batch.ids.is_empty() && !batch.more {
                return Ok(latencies.percentiles());
            }
            latencies.record(batch.took);
            claimer.finish(&batch.ids).await?;
        }
    }

    fn work(&self) -> Work {
        Work {
            concurrency: self.options.concurrency,
            prefetch: self.options.concurrency,
            job_ms: self.options.job_ms,
            ..Work::FULL_SPEED
        }
    }

    async fn driver(&self) -> anyhow::Result<Remote> {
        let url = self.ground.cluster.url(Role::Gatehouse);
        Remote::ours("queue", &url, &self.ground.directory()).await
    }
}

/// So many jobs, in all lanes by turns.
fn mixed(jobs: u64) -> impl Iterator<Item = u64> {
    (0..jobs).map(|n| n % LANES)
}

/// Adds jobs at once, due now.
async fn add(producer: &mut Remote, lane: u64, count: u64) -> anyhow::Result<()> {
    let due = now_us();
    for _ in 0..count {
        producer
            .tell(Request::Add {
                due,
                lane,
                urgent: false,
            })
            .await?;
    }
    producer.order(Request::Settle).await
}

impl Report for Fair {
    fn lines(&self) -> Vec<Line> {
        let newcomer = format!(
            "{NEWCOMERS_JOBS} jobs of one customer beside {} of another, 95th percentile of the wait",
            self.backlog
        );
        let mut lines = vec![
            Line::heading("Fairness"),
            self.machine.line(),
            Line::heading(newcomer),
        ];
        for (number, round) in self.rounds.iter().enumerate() {
            let value = format!(
                "idle {:.2} ms, busy {:.2} ms",
                round.idle.p95_ms, round.busy.p95_ms
            );
            lines.push(Line::fact(format!("round {}", number + 1), value));
        }
        let verdict = met(self.busy_ms <= self.bound_ms);
        lines.push(Line::fact(
            "medians",
            format!("idle {:.2} ms, busy {:.2} ms", self.idle_ms, self.busy_ms),
        ));
        lines.push(Line::fact(
            "goal",
            format!("at most {:.2} ms: {verdict}", self.bound_ms),
        ));
        lines.push(Line::heading(format!("A claim of {CLAIM}, {LANES} lanes")));
        lines.push(Line::fact("fresh table", self.fresh.to_string()));
        let worn = [
            (format!("{} scheduled", self.million), self.scheduled),
            (format!("{} just finished", self.million), self.finished),
        ];
        for (name, percentiles) in worn {
            let ratio = percentiles.p99_ms / self.fresh.p99_ms;
            let verdict = met(ratio <= 2.0);
            lines.push(Line::fact(
                name,
                format!("{percentiles}: {ratio:.2} x the fresh p99, goal 2: {verdict}"),
            ));
        }
        lines
    }
}

/// A word for whether a goal is met.
const fn met(is_met: bool) -> &'static str {
    if is_met { "met" } else { "missed" }
}
