//! Long life: a steady stream of jobs is enqueued and worked on while another connection holds a transaction open, which
//! keeps every dead row of the queue alive. What that does to claims, waits and sizes, and how soon all is as before once
//! it is released; then every job must have been done exactly once.

mod hold;
mod sample;
mod table;

use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::Args;
use serde::Serialize;
use sqlx::PgConnection;

use self::{
    hold::{Held, Hold},
    sample::{Gauges, Sample, Stretch},
};
use crate::{
    cluster::Role,
    ground::{Ground, GroundOptions},
    protocol::{Production, Progress, Request, Work},
    remote::Remote,
    report::Machine,
};

/// One job of so many fails at its first attempt.
const FAILING: u64 = 10;
const WORK: Work = Work {
    concurrency: 64,
    prefetch: 64,
    job_ms: 5,
    effects: true,
    loops: 0,
};
/// What the stretch "during" is of, and when everything should be as before.
const LAST: Duration = Duration::from_mins(1);
/// How long it is watched after the release, if it takes so long.
const PATIENCE: Duration = Duration::from_mins(5);

/// Options of `endurance`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) ground: GroundOptions,
    /// How long the transaction is held, in minutes
    #[arg(long, default_value_t = 20.0)]
    minutes: f64,
    /// Jobs a second
    #[arg(long, default_value_t = 500)]
    rate: u64,
    /// Lanes that they are spread over
    #[arg(long, default_value_t = 300)]
    lanes: u64,
    /// What is held
    #[arg(long, value_enum, default_value_t = Hold::Snapshot)]
    hold: Hold,
    /// Seconds between two samples
    #[arg(long, default_value_t = 5)]
    every: u64,
    /// Seconds before anything is held, which are what the rest is compared with
    #[arg(long, default_value_t = 60)]
    fresh_seconds: u64,
}

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Endured {
    machine: Machine,
    hold: Hold,
    minutes: f64,
    rate: u64,
    lanes: u64,
    fresh: Stretch,
    /// The last minute before the release.
    during: Stretch,
    /// The second half of the minute after it.
    after: Stretch,
    recovery: Recovery,
    audit: Audit,
    samples: Vec<Sample>,
}

/// How soon after the release something was as before: at most twice what it was while the table was fresh.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Recovery {
    claims_seconds: Option<f64>,
    dead_rows_seconds: Option<f64>,
}

/// What became of the jobs.
#[derive(Clone, Copy, Debug, Serialize)]
struct Audit {
    enqueued: u64,
    /// Effects, and different jobs among them.
    effects: u64,
    done: u64,
    dead: u64,
    left: u64,
}

impl Audit {
    fn holds(&self) -> bool {
        self.enqueued == self.effects
            && self.effects == self.done
            && self.dead == 0
            && self.left == 0
    }
}

impl Endured {
    /// Whether every job was done exactly once.
    pub(crate) fn holds(&self) -> bool {
        self.audit.holds()
    }
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Endured> {
    let load_before = Machine::load_before();
    let (ground, pool) = Ground::with_queue(&options.ground).await?;
    sqlx::query("create table effects (n bigint not null)")
        .execute(&pool)
        .await?;
    pool.close().await;
    let mut conn = ground.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let url = ground.cluster.url(Role::Gatehouse);
    let logs = ground.directory();
    let mut run = Run {
        worker: Remote::ours("queue", &url, &logs).await?,
        producer: Remote::ours("queue", &url, &logs).await?,
        conn,
        begun: Instant::now(),
        every: Duration::from_secs(options.every),
        samples: Vec::new(),
    };
    run.worker.order(Request::Work(WORK)).await?;
    let production = Production {
        rate: options.rate,
        lanes: options.lanes,
        failing: FAILING,
    };
    run.producer.order(Request::Produce(production)).await?;
    eprintln!("{}", Sample::heading());

    // What starting cost is nobody's concern.
    run.sample().await?;
    run.samples.clear();
    run.watch(Duration::from_secs(options.fresh_seconds))
        .await?;
    let fresh = run.stretch(Duration::from_secs(options.fresh_seconds));
    ensure!(
        fresh.claim.count > 0,
        "the worker did not say how long its claims took"
    );
    let held = Held::take(&ground.cluster, options.hold).await?;
    eprintln!("the {} is held", options.hold);
    run.watch(Duration::from_secs_f64(options.minutes * 60.0))
        .await?;
    let during = run.stretch(LAST);
    held.release().await?;
    eprintln!("the {} is released", options.hold);
    let (recovery, after) = run.recover(&fresh).await?;
    let audit = run.audit().await?;
    Ok(Endured {
        machine,
        hold: options.hold,
        minutes: options.minutes,
        rate: options.rate,
        lanes: options.lanes,
        fresh,
        during,
        after,
        recovery,
        audit,
        samples: run.samples,
    })
}

struct Run {
    worker: Remote,
    producer: Remote,
    conn: PgConnection,
    begun: Instant,
    every: Duration,
    samples: Vec<Sample>,
}

impl Run {
    /// Takes samples for a while.
    async fn watch(&mut self, duration: Duration) -> anyhow::Result<()> {
        let end = Instant::now() + duration;
        while Instant::now() < end {
            let left = end.saturating_duration_since(Instant::now());
            tokio::time::sleep(self.every.min(left)).await;
            self.sample().await?;
        }
        Ok(())
    }

    async fn sample(&mut self) -> anyhow::Result<()> {
        let worked: Progress = self.worker.ask(Request::Progress).await?;
        let produced: Progress = self.producer.ask(Request::Progress).await?;
        let gauges = Gauges::read(&mut self.conn).await?;
        let sample = Sample::new(self.begun.elapsed(), &worked, &produced, gauges);
        eprintln!("{sample}");
        self.samples.push(sample);
        Ok(())
    }

    /// The last so many seconds.
    fn stretch(&self, length: Duration) -> Stretch {
        let now = self.begun.elapsed();
        let first = now.saturating_sub(length);
        Stretch::of(self.samples.iter().filter(|sample| sample.at > first))
    }

    /// Watches until all is as before, a minute at least.
    async fn recover(&mut self, fresh: &Stretch) -> anyhow::Result<(Recovery, Stretch)> {
        let released = self.begun.elapsed();
        let mut recovery = Recovery::default();
        let mut after = None;
        loop {
            self.watch(self.every).await?;
            let since = self.begun.elapsed().saturating_sub(released);
            let latest = self.stretch(self.every);
            if latest.claims_as_before(fresh) {
                recovery.claims_seconds.get_or_insert(since.as_secs_f64());
            }
            if latest.dead_rows_as_before(fresh) {
                recovery
                    .dead_rows_seconds
                    .get_or_insert(since.as_secs_f64());
            }
            if since < LAST {
                continue;
            }
            let after = after.get_or_insert_with(|| self.stretch(LAST / 2));
            let is_over = recovery.claims_seconds.is_some() && recovery.dead_rows_seconds.is_some();
            if is_over || since > PATIENCE {
                return Ok((recovery, after.clone()));
            }
        }
    }

    /// Ends production, waits until nothing is left, and counts.
    async fn audit(&mut self) -> anyhow::Result<Audit> {
        self.producer.order(Request::Stop).await?;
        let produced: Progress = self.producer.ask(Request::Progress).await?;
        let begun = Instant::now();
        let mut left = 1;
        while left > 0 && begun.elapsed() < PATIENCE {
            tokio::time::sleep(Duration::from_millis(200)).await;
            left = self.count("select count(*) from queue.jobs").await?;
        }
        self.worker.order(Request::Stop).await?;
        ensure!(produced.enqueued > 0, "nothing was enqueued");
        Ok(Audit {
            enqueued: produced.enqueued,
            effects: self.count("select count(*) from effects").await?,
            done: self.count("select count(distinct n) from effects").await?,
            dead: self.count("select count(*) from queue.dead_jobs").await?,
            left,
        })
    }

    async fn count(&mut self, query: &'static str) -> anyhow::Result<u64> {
        let count: i64 = sqlx::query_scalar(query).fetch_one(&mut self.conn).await?;
        Ok(count.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_audit_fails_when_a_job_was_lost_doubled_dead_or_left() {
        let sound = Audit {
            enqueued: 10,
            effects: 10,
            done: 10,
            dead: 0,
            left: 0,
        };
        assert!(sound.holds());
        let lost = Audit {
            effects: 9,
            done: 9,
            ..sound
        };
        let doubled = Audit { done: 9, ..sound };
        let dead = Audit { dead: 1, ..sound };
        let left = Audit { left: 1, ..sound };
        for wrong in [lost, doubled, dead, left] {
            assert!(!wrong.holds(), "{wrong:?}");
        }
    }
}
