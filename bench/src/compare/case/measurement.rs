//! One measurement of one contestant.

use std::time::{Duration, Instant};

use anyhow::ensure;
use sqlx::PgConnection;

use super::{Contestant, LANES, Outcome, Size};
use crate::{
    clock::now_us,
    compare::system::Arena,
    driver_client::DriverClient,
    latency::{Latencies, Percentiles},
    load::{Ticks, paced, per_second, ticks},
    protocol::{Request, Work},
};

/// The newcomers' lane under full load: none of the backlog's.
const NEWCOMERS: u64 = 1_000_000;
/// Newcomers a second under full load.
const NEWCOMERS_RATE: f64 = 50.0;
const WARM_UP_SECONDS: u64 = 2;
const BARE_SECONDS: u64 = 3;
const HOUR_SECONDS: u64 = 3_600;

/// One measurement of one contestant.
pub(super) struct Measurement<'a> {
    pub(super) arena: &'a Arena<'a>,
    pub(super) contestant: Contestant,
    pub(super) size: Size,
    pub(super) producer: DriverClient,
    pub(super) conn: PgConnection,
}

impl Measurement<'_> {
    pub(super) async fn enqueue(&mut self, tasks: u64) -> anyhow::Result<Outcome> {
        let jobs = self.size.singles();
        // So that connections are open and statements prepared.
        let warm_up = Request::Enqueue {
            jobs: 20 * tasks,
            tasks,
        };
        self.producer.order(warm_up).await?;
        let begun = Instant::now();
        self.producer
            .order(Request::Enqueue { jobs, tasks })
            .await?;
        Ok(Outcome::JobsPerSecond(per_second(jobs, begun.elapsed())))
    }

    pub(super) async fn bulk(&mut self) -> anyhow::Result<Outcome> {
        self.fill(20, 0).await?;
        let begun = Instant::now();
        self.fill(self.size.jobs, 0).await?;
        let elapsed = begun.elapsed();
        Ok(Outcome::JobsPerSecond(per_second(self.size.jobs, elapsed)))
    }

    async fn fill(&mut self, jobs: u64, delay_s: u64) -> anyhow::Result<()> {
        let lanes = self.contestant.lanes;
        self.producer
            .order(Request::Bulk {
                jobs,
                lanes,
                delay_s,
            })
            .await
    }

    pub(super) async fn fresh_drain(&mut self, jobs: u64) -> anyhow::Result<Outcome> {
        self.fill(jobs, 0).await?;
        self.contestant.system.vacuum(&mut self.conn).await?;
        self.drain(jobs).await
    }

    /// Works a backlog off: from the order to work until every job is done, in the database, and the worker at rest.
    async fn drain(&mut self, jobs: u64) -> anyhow::Result<Outcome> {
        let system = self.contestant.system;
        let mut worker = self.arena.driver(system).await?;
        let begun = Instant::now();
        worker.order(Request::Work(Work::FULL_SPEED)).await?;
        worker.order(Request::Await { ran: jobs }).await?;
        worker.order(Request::Stop).await?;
        let elapsed = begun.elapsed();
        let left = system.unfinished_jobs(&mut self.conn).await?;
        ensure!(left == 0, "{}: {left} jobs are left", system.name());
        worker.end().await?;
        Ok(Outcome::JobsPerSecond(per_second(jobs, elapsed)))
    }

    pub(super) async fn scheduled(&mut self) -> anyhow::Result<Outcome> {
        self.fill(self.size.huge(), HOUR_SECONDS).await?;
        self.fresh_drain(self.size.jobs).await
    }

    pub(super) async fn finished(&mut self) -> anyhow::Result<Outcome> {
        let system = self.contestant.system;
        system.autovacuum(&mut self.conn, false).await?;
        self.fresh_drain(self.size.huge()).await?;
        self.fill(self.size.jobs, 0).await?;
        system.analyze(&mut self.conn).await?;
        let outcome = self.drain(self.size.jobs).await?;
        system.autovacuum(&mut self.conn, true).await?;
        Ok(outcome)
    }

    pub(super) async fn latency(&mut self, rate: f64) -> anyhow::Result<Outcome> {
        let bare = paced(rate, ticks(rate, BARE_SECONDS), async || {
            sqlx::query("select 1").execute(&mut self.conn).await?;
            Ok(())
        })
        .await?;
        let mut worker = self.arena.driver(self.contestant.system).await?;
        worker.order(Request::Work(Work::FULL_SPEED)).await?;
        let warm_up = ticks(rate, WARM_UP_SECONDS);
        self.add(rate, warm_up, 0).await?;
        worker.order(Request::Await { ran: warm_up }).await?;
        worker.order(Request::Latencies).await?;
        let count = ticks(rate, self.size.seconds);
        self.add(rate, count, 0).await?;
        let ran = warm_up + count;
        worker.order(Request::Await { ran }).await?;
        let waits = waits_of(&mut worker).await?;
        worker.order(Request::Stop).await?;
        worker.end().await?;
        ensure!(
            waits.count == count,
            "{} of {count} jobs were told when due",
            waits.count
        );
        Ok(Outcome::Waits {
            waits,
            bare: Some(bare.percentiles()),
        })
    }

    /// Newcomers while a backlog is worked off, until a tenth of it is left or the seconds are over.
    pub(super) async fn load(&mut self) -> anyhow::Result<Outcome> {
        let system = self.contestant.system;
        let backlog = self.size.large();
        self.fill(backlog, 0).await?;
        system.vacuum(&mut self.conn).await?;
        let mut worker = self.arena.driver(system).await?;
        worker.order(Request::Work(Work::BALANCED)).await?;
        let deadline = Instant::now() + Duration::from_secs(self.size.seconds);
        let (mut ran, mut newcomers) = (0, 0);
        while ran < backlog * 9 / 10 && Instant::now() < deadline {
            // A fifth of a second.
            newcomers += self.add(NEWCOMERS_RATE, 10, NEWCOMERS).await?;
            ran = worker.ask(Request::Ran).await?;
        }
        // All newcomers have started soon, whatever is left of the backlog.
        let patience = Instant::now() + Duration::from_mins(2);
        let mut waits = Vec::new();
        while waits.len() < usize::try_from(newcomers)? {
            ensure!(Instant::now() < patience, "newcomers wait for two minutes");
            waits.append(&mut worker.ask(Request::Latencies).await?);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        worker.order(Request::Stop).await?;
        worker.end().await?;
        Ok(Outcome::Waits {
            waits: Latencies::of_micros(&waits).percentiles(),
            bare: None,
        })
    }

    /// Adds jobs at a rate, without waiting for them to run, and waits until all are enqueued.
    async fn add(&mut self, rate: f64, count: u64, lane: u64) -> anyhow::Result<u64> {
        let ticks = Ticks::start(rate, count);
        while let Some(tick) = ticks.next().await {
            let delay = u64::try_from(tick.due.elapsed().as_micros())?;
            let add = Request::Add {
                due: now_us() - delay,
                lane: lane + tick.index % LANES,
                urgent: lane == NEWCOMERS,
            };
            self.producer.tell(add).await?;
        }
        self.producer.ask(Request::Settle).await
    }
}

async fn waits_of(worker: &mut DriverClient) -> anyhow::Result<Percentiles> {
    let micros: Vec<u64> = worker.ask(Request::Latencies).await?;
    Ok(Latencies::of_micros(&micros).percentiles())
}
