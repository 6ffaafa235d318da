//! The measurements. Each runs for one system at a time, in its own processes.

mod measurement;

use clap::ValueEnum;
use serde::Serialize;

use self::measurement::Measurement;
use super::system::{Arena, System};
use crate::{latency::Percentiles, protocol::About};

/// The default number of our lanes.
const LANES: u64 = 100;
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
    /// The number of our lanes.
    pub(super) lanes: u64,
}

/// One result.
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

    /// Whether it takes so long that it has fewer rounds.
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
            // The loop written by hand is not woken for a job, so its polling interval would be
            // measured.
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
        let mut measurement = Measurement {
            arena,
            contestant,
            size,
            producer,
            conn,
        };
        let outcome = match self {
            Self::EnqueueOne => measurement.enqueue(1).await?,
            Self::EnqueueEight => measurement.enqueue(8).await?,
            Self::Bulk => measurement.bulk().await?,
            Self::Drain => measurement.fresh_drain(size.jobs).await?,
            Self::DrainLarge => measurement.fresh_drain(size.large()).await?,
            Self::LatencyHundred => measurement.latency(100.0).await?,
            Self::LatencyThreeHundred => measurement.latency(300.0).await?,
            Self::Load => measurement.load().await?,
            Self::Scheduled => measurement.scheduled().await?,
            Self::Finished => measurement.finished().await?,
        };
        let Measurement {
            producer, mut conn, ..
        } = measurement;
        producer.end().await?;
        contestant.system.empty(&mut conn).await?;
        Ok((outcome, about))
    }
}
