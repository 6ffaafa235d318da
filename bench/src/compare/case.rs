//! What is measured, each for one system at a time, in processes that are started for it.

use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::ValueEnum;
use serde::Serialize;
use sqlx::PgConnection;

use super::system::{Arena, System};
use crate::{
    clock::now_us,
    latency::{Latencies, Percentiles},
    load::{Ticks, paced, per_second, ticks},
    protocol::{About, Request, Work},
    remote::Remote,
};

/// Lanes of ours where nothing else is said.
const LANES: u64 = 100;
/// The newcomers' lane under full load: none of the backlog's.
const NEWCOMERS: u64 = 1_000_000;
/// Newcomers a second under full load.
const NEWCOMERS_RATE: f64 = 50.0;
const WARM_UP_SECONDS: u64 = 2;
const BARE_SECONDS: u64 = 3;
const HOUR_SECONDS: u64 = 3_600;

/// A measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Case {
    /// Jobs enqueued one by one, a commit each, by one task
    #[value(name = "enqueue-1")]
    EnqueueOne,
    /// The same by eight tasks
    #[value(name = "enqueue-8")]
    EnqueueEight,
    /// Jobs enqueued 5,000 at a time
    Bulk,
    /// A backlog worked off
    Drain,
    /// Eight times that backlog worked off
    DrainLarge,
    /// From when a job was to be enqueued to its start, at 100 jobs a second
    #[value(name = "latency-100")]
    LatencyHundred,
    /// The same at 300
    #[value(name = "latency-300")]
    LatencyThreeHundred,
    /// The same for newcomers while a large backlog is worked off
    Load,
    /// The drain with 20 backlogs scheduled in an hour
    Scheduled,
    /// The drain right after 20 backlogs were worked off, not vacuumed
    Finished,
}

/// Who is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Contestant {
    pub(super) system: System,
    /// Of ours.
    pub(super) lanes: u64,
}

/// What came out once.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    JobsPerSecond(f64),
    Waits {
        waits: Percentiles,
        /// `select 1`, one at a time at the same rate just before.
        bare: Option<Percentiles>,
    },
}

/// How much of it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Size {
    /// Jobs of a backlog.
    pub(super) jobs: u64,
    /// Of each latency.
    pub(super) seconds: u64,
}

impl Size {
    const fn large(self) -> u64 {
        self.jobs * 8
    }

    const fn huge(self) -> u64 {
        self.jobs * 20
    }

    const fn singles(self) -> u64 {
        self.jobs / 10
    }
}

impl Case {
    pub(super) fn title(self, size: Size) -> String {
        let (jobs, large, huge) = (size.jobs, size.large(), size.huge());
        match self {
            Self::EnqueueOne => format!("Enqueue one by one, 1 task, {} jobs", size.singles()),
            Self::EnqueueEight => format!("Enqueue one by one, 8 tasks, {} jobs", size.singles()),
            Self::Bulk => format!("Enqueue in bulk, {jobs} jobs, 5,000 at a time"),
            Self::Drain => format!("Drain of {jobs} no-op jobs"),
            Self::DrainLarge => format!("Drain of {large} no-op jobs"),
            Self::LatencyHundred => "Enqueue to start at 100 jobs/s".to_owned(),
            Self::LatencyThreeHundred => "Enqueue to start at 300 jobs/s".to_owned(),
            Self::Load => {
                format!("Enqueue to start of newcomers while {large} jobs are worked off")
            }
            Self::Scheduled => format!("Drain of {jobs} with {huge} scheduled in an hour"),
            Self::Finished => {
                format!("Drain of {jobs} right after {huge} were finished, not vacuumed")
            }
        }
    }

    /// Whether it takes so long that fewer rounds must do.
    pub(super) const fn is_long(self) -> bool {
        matches!(self, Self::Scheduled | Self::Finished)
    }

    pub(super) fn contestants(self) -> Vec<Contestant> {
        let with = |systems: &[System]| {
            let contestants = systems.iter().map(|&system| Contestant {
                system,
                lanes: LANES,
            });
            contestants.collect()
        };
        match self {
            Self::Drain | Self::DrainLarge => {
                let lanes = |lanes| Contestant {
                    system: System::Gatehouse,
                    lanes,
                };
                let mut all = vec![lanes(1), lanes(100), lanes(10_000)];
                all.extend(with(&[
                    System::ByHand,
                    System::ByHandLaneless,
                    System::GraphileWorker,
                    System::PgBoss,
                ]));
                all
            }
            Self::EnqueueOne
            | Self::EnqueueEight
            | Self::Bulk
            | Self::Scheduled
            | Self::Finished => with(&[
                System::Gatehouse,
                System::ByHand,
                System::GraphileWorker,
                System::PgBoss,
            ]),
            // The loop written by hand does not wake up for a job: it would be its poll that is measured.
            Self::LatencyHundred | Self::LatencyThreeHundred | Self::Load => {
                with(&[System::Gatehouse, System::GraphileWorker, System::PgBoss])
            }
        }
    }

    /// Measures one contestant, on an emptied table.
    pub(super) async fn measure(
        self,
        arena: &Arena<'_>,
        contestant: Contestant,
        size: Size,
    ) -> anyhow::Result<(Outcome, About)> {
        let producer = arena.driver(contestant.system).await?;
        let about = producer.about().clone();
        let mut conn = arena.connect(contestant.system).await?;
        contestant.system.empty(&mut conn).await?;
        let mut bout = Bout {
            arena,
            contestant,
            size,
            producer,
            conn,
        };
        let outcome = match self {
            Self::EnqueueOne => bout.enqueue(1).await?,
            Self::EnqueueEight => bout.enqueue(8).await?,
            Self::Bulk => bout.bulk().await?,
            Self::Drain => bout.fresh_drain(size.jobs).await?,
            Self::DrainLarge => bout.fresh_drain(size.large()).await?,
            Self::LatencyHundred => bout.latency(100.0).await?,
            Self::LatencyThreeHundred => bout.latency(300.0).await?,
            Self::Load => bout.load().await?,
            Self::Scheduled => bout.scheduled().await?,
            Self::Finished => bout.finished().await?,
        };
        let Bout {
            producer, mut conn, ..
        } = bout;
        producer.end().await?;
        contestant.system.empty(&mut conn).await?;
        Ok((outcome, about))
    }
}

/// One measurement of one contestant.
struct Bout<'a> {
    arena: &'a Arena<'a>,
    contestant: Contestant,
    size: Size,
    producer: Remote,
    conn: PgConnection,
}

impl Bout<'_> {
    async fn enqueue(&mut self, tasks: u64) -> anyhow::Result<Outcome> {
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

    async fn bulk(&mut self) -> anyhow::Result<Outcome> {
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

    async fn fresh_drain(&mut self, jobs: u64) -> anyhow::Result<Outcome> {
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

    async fn scheduled(&mut self) -> anyhow::Result<Outcome> {
        self.fill(self.size.huge(), HOUR_SECONDS).await?;
        self.fresh_drain(self.size.jobs).await
    }

    async fn finished(&mut self) -> anyhow::Result<Outcome> {
        let system = self.contestant.system;
        system.autovacuum(&mut self.conn, false).await?;
        self.fresh_drain(self.size.huge()).await?;
        self.fill(self.size.jobs, 0).await?;
        system.analyze(&mut self.conn).await?;
        let outcome = self.drain(self.size.jobs).await?;
        system.autovacuum(&mut self.conn, true).await?;
        Ok(outcome)
    }

    async fn latency(&mut self, rate: f64) -> anyhow::Result<Outcome> {
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
    async fn load(&mut self) -> anyhow::Result<Outcome> {
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

    /// Adds jobs at a rate, whatever becomes of them, and waits until all are enqueued.
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

async fn waits_of(worker: &mut Remote) -> anyhow::Result<Percentiles> {
    let micros: Vec<u64> = worker.ask(Request::Latencies).await?;
    Ok(Latencies::of_micros(&micros).percentiles())
}
