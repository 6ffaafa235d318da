//! Claims in one distribution of lanes: one process claims alone, then several claim together.

use std::{
    collections::{HashSet, VecDeque},
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{
    distribution::Scene,
    shares::{jain, shares},
    watch::{Caps, Watch},
};
use crate::{
    claimer::Claimer,
    environment::Environment,
    fill_queue::{analyze, empty, fill},
    latency::{Latencies, Percentiles},
    load::per_second,
};

/// Jobs to a claim of the process that claims alone, and how many of its claims run before the
/// oldest is finished.
const ALONE: i32 = 100;
const RUNNING: usize = 10;
/// How many processes claim together, and jobs to each of their claims.
pub(super) const TOGETHER: usize = 4;
pub(super) const EACH: i32 = 500;

#[derive(Debug, Serialize)]
pub(super) struct Played {
    pub(super) scene: Scene,
    pub(super) jobs: usize,
    pub(super) lanes: usize,
    pub(super) alone: Percentiles,
    /// Jobs that the process took that claimed alone.
    pub(super) taken: usize,
    /// Open lanes that these came from, and how evenly.
    pub(super) lanes_served: usize,
    pub(super) fewest: u64,
    pub(super) most: u64,
    pub(super) jain: f64,
    /// Jobs a second that several claimed, without finishing them, and how long each claim took.
    pub(super) together_rate: f64,
    pub(super) together: Percentiles,
    pub(super) caps: Caps,
    pub(super) from_paused: u64,
}

pub(super) struct Stage<'a> {
    pub(super) environment: &'a Environment,
    pub(super) claims: usize,
    pub(super) together: Duration,
}

impl Stage<'_> {
    pub(super) async fn play(
        &self,
        conn: &mut PgConnection,
        scene: Scene,
        divisor: u64,
    ) -> anyhow::Result<Played> {
        let lanes = scene.lanes(divisor);
        let numbers = scene.jobs(divisor);
        let jobs = numbers.len();
        empty(conn).await?;
        fill(conn, numbers, Duration::ZERO).await?;
        scene.set_exceptions(conn, divisor).await?;
        analyze(conn, true).await?;
        let open = scene.open(divisor);

        let mut watch = Watch::new(&self.environment.cluster).await?;
        let (alone, mut taken) = watch.during(self.alone()).await?;
        let (together, elapsed, claimed) = watch.during(self.together(&open)).await?;
        let from_paused = taken.iter().filter(|lane| !open.contains(lane)).count();
        // After half of the smallest lane's jobs, lanes may become empty. Then the taken jobs say
        // nothing about fairness.
        taken.truncate(open.len() * scene.smallest() / 2);
        let shares = shares(&taken, &open);
        Ok(Played {
            scene,
            jobs,
            lanes: lanes.try_into()?,
            alone: alone.percentiles(),
            taken: taken.len(),
            lanes_served: shares.iter().filter(|&&share| share > 0).count(),
            fewest: shares.iter().copied().min().unwrap_or(0),
            most: shares.iter().copied().max().unwrap_or(0),
            jain: jain(&shares),
            together_rate: per_second(claimed.jobs, elapsed),
            together: together.percentiles(),
            caps: watch.seen(),
            from_paused: from_paused as u64 + claimed.from_paused,
        })
    }

    /// One process claims, while its last claims are still running.
    async fn alone(&self) -> anyhow::Result<(Latencies, Vec<Uuid>)> {
        let mut claimer = Claimer::new(self.environment.cluster.connect().await?);
        let (mut latencies, mut taken) = (Latencies::new(), Vec::new());
        let mut running = VecDeque::new();
        for _ in 0..self.claims {
            let batch = claimer.claim(ALONE).await?;
            if batch.ids.is_empty() && !batch.more {
                break;
            }
            latencies.record(batch.took);
            taken.extend(batch.lanes);
            running.push_back(batch.ids);
            if running.len() > RUNNING
                && let Some(ids) = running.pop_front()
            {
                claimer.finish(&ids).await?;
            }
        }
        for ids in running {
            claimer.finish(&ids).await?;
        }
        Ok((latencies, taken))
    }

    /// Several processes claim until nothing is left or the time is over. Nothing is finished.
    async fn together(
        &self,
        open: &HashSet<Uuid>,
    ) -> anyhow::Result<(Latencies, Duration, Together)> {
        let begun = Instant::now();
        let claimers = (0..TOGETHER).map(|_| async {
            let mut claimer = Claimer::new(self.environment.cluster.connect().await?);
            let (mut latencies, mut got) = (Latencies::new(), Together::default());
            while begun.elapsed() < self.together {
                let batch = claimer.claim(EACH).await?;
                if batch.ids.is_empty() && !batch.more {
                    break;
                }
                latencies.record(batch.took);
                got.jobs += batch.ids.len() as u64;
                let paused = batch.lanes.iter().filter(|lane| !open.contains(lane));
                got.from_paused += paused.count() as u64;
            }
            anyhow::Ok((latencies, got))
        });
        let (mut latencies, mut all) = (Latencies::new(), Together::default());
        for (own, got) in try_join_all(claimers).await? {
            latencies.merge(&own);
            all.jobs += got.jobs;
            all.from_paused += got.from_paused;
        }
        Ok((latencies, begun.elapsed(), all))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Together {
    jobs: u64,
    from_paused: u64,
}
