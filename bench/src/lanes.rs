//! Claims at scale: a million waiting jobs in very many lanes, or most of them in one, with lanes paused and capped. How
//! long a claim takes, how fast several claim, how fair they are, and whether a cap is ever exceeded.

mod scene;
mod table;
mod watch;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum as _};
use futures::future::try_join_all;
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use self::{
    scene::Scene,
    watch::{Caps, Watch},
};
use crate::{
    claims::Claimer,
    driver::QUEUE,
    fill::{analyze, empty, fill},
    ground::{Ground, GroundOptions},
    lane::lane,
    latency::{Latencies, Percentiles, median},
    load::per_second,
    report::Machine,
};

/// Jobs to a claim of the one who claims alone, and how many of its claims are running before the oldest is finished.
const ALONE: i32 = 100;
const RUNNING: usize = 10;
/// Those who claim together, and jobs to each claim.
const TOGETHER: usize = 4;
const EACH: i32 = 500;
/// Lanes of the search for work, and how often it is repeated.
const PAUSED: u64 = 5_000;
const SEARCHES: usize = 20;
const A_DAY: Duration = Duration::from_hours(24);

/// Options of `lanes`.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) ground: GroundOptions,
    /// Claims of the one who claims alone
    #[arg(long, default_value_t = 2_000)]
    claims: usize,
    /// The longest that several claim together, in seconds
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Only these
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Scene>,
    /// Everything at a twentieth of the size: shows that it works, not how fast
    #[arg(long)]
    quick: bool,
}

/// What came out.
#[derive(Debug, Serialize)]
pub(crate) struct Claimed {
    machine: Machine,
    scenes: Vec<Played>,
    search: Search,
}

impl Claimed {
    /// Whether no cap was exceeded and nothing taken from a paused lane.
    pub(crate) fn holds(&self) -> bool {
        let wrong = |played: &Played| played.caps.over + played.from_paused;
        self.scenes.iter().all(|played| wrong(played) == 0)
    }
}

#[derive(Debug, Serialize)]
struct Played {
    scene: Scene,
    jobs: usize,
    lanes: usize,
    alone: Percentiles,
    /// Jobs that the one who claimed alone took.
    taken: usize,
    /// Open lanes that these came from, and how evenly.
    lanes_served: usize,
    fewest: u64,
    most: u64,
    jain: f64,
    /// Jobs a second that several claimed, without finishing them, and how long each claim took.
    together_rate: f64,
    together: Percentiles,
    caps: Caps,
    from_paused: u64,
}

/// How long it takes to find the only lane that is not paused.
#[derive(Debug, Serialize)]
struct Search {
    lanes: u64,
    median_ms: f64,
    longest_ms: f64,
    median_claims: f64,
}

/// Runs the benchmark.
pub(crate) async fn run(options: Options) -> anyhow::Result<Claimed> {
    let load_before = Machine::load_before();
    let (ground, pool) = Ground::with_queue(&options.ground).await?;
    pool.close().await;
    let mut conn = ground.cluster.connect().await?;
    let machine = Machine::describe(&mut conn, load_before).await?;
    let (divisor, claims) = if options.quick {
        (20, options.claims / 20)
    } else {
        (1, options.claims)
    };
    let scenes = if options.only.is_empty() {
        Scene::value_variants()
    } else {
        &options.only
    };
    let mut played = Vec::new();
    for &scene in scenes {
        eprintln!("{}", scene.title());
        let stage = Stage {
            ground: &ground,
            claims,
            together: Duration::from_secs(options.seconds),
        };
        let one = stage.play(&mut conn, scene, divisor).await?;
        eprintln!("  {}; together {:.0}/s", one.alone, one.together_rate);
        played.push(one);
    }
    eprintln!("the only lane of {} that is not paused", PAUSED / divisor);
    let search = search(&ground, &mut conn, PAUSED / divisor).await?;
    Ok(Claimed {
        machine,
        scenes: played,
        search,
    })
}

struct Stage<'a> {
    ground: &'a Ground,
    claims: usize,
    together: Duration,
}

impl Stage<'_> {
    async fn play(
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

        let mut watch = Watch::new(&self.ground.cluster).await?;
        let (alone, mut taken) = watch.during(self.alone()).await?;
        let (together, elapsed, claimed) = watch.during(self.together(&open)).await?;
        let from_paused = taken.iter().filter(|lane| !open.contains(lane)).count();
        // Beyond half of what the smallest lane had, lanes run dry, and what is taken says nothing of fairness.
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

    /// One who claims, with its last claims still running.
    async fn alone(&self) -> anyhow::Result<(Latencies, Vec<Uuid>)> {
        let mut claimer = Claimer::new(self.ground.cluster.connect().await?);
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

    /// Several who claim until nothing is left or the time is over; nothing is finished.
    async fn together(
        &self,
        open: &HashSet<Uuid>,
    ) -> anyhow::Result<(Latencies, Duration, Together)> {
        let begun = Instant::now();
        let claimers = (0..TOGETHER).map(|_| async {
            let mut claimer = Claimer::new(self.ground.cluster.connect().await?);
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

/// How many were taken from each open lane.
fn shares(taken: &[Uuid], open: &HashSet<Uuid>) -> Vec<u64> {
    let mut shares: HashMap<Uuid, u64> = open.iter().map(|&lane| (lane, 0)).collect();
    for lane in taken {
        if let Some(share) = shares.get_mut(lane) {
            *share += 1;
        }
    }
    shares.into_values().collect()
}

/// Jain's index of fairness: 1 when all shares are equal, 1/n when one has everything.
/// Source: Jain, Chiu, Hawe, "A quantitative measure of fairness", DEC-TR-301, 1984.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn jain(shares: &[u64]) -> f64 {
    let sum: u64 = shares.iter().sum();
    let squares: u64 = shares.iter().map(|share| share * share).sum();
    if squares == 0 {
        return 0.0;
    }
    (sum as f64).powi(2) / (shares.len() as f64 * squares as f64)
}

/// Finds the work of the only lane that is not paused, from anywhere in the ring.
async fn search(ground: &Ground, conn: &mut PgConnection, lanes: u64) -> anyhow::Result<Search> {
    empty(conn).await?;
    // The open lane has enough for all searches.
    let jobs = (0..20 * lanes).map(|n| n % lanes);
    let jobs = jobs.chain((0..100 * SEARCHES).map(|_| 0));
    fill(conn, jobs, Duration::ZERO).await?;
    for number in 1..lanes {
        queue::lanes::pause(conn, QUEUE, lane(number), A_DAY).await?;
    }
    analyze(conn, true).await?;
    let (mut times, mut claims) = (Vec::new(), Vec::new());
    for _ in 0..SEARCHES {
        let mut claimer = Claimer::new(ground.cluster.connect().await?);
        // Opens the connection's plans, which a process does once.
        sqlx::query("select queue.claim($1, 'no such queue', 1, $1, 1, null, null, 0::smallint)")
            .bind(Uuid::nil())
            .execute(&mut claimer.conn)
            .await?;
        let begun = Instant::now();
        let mut count = 0.0;
        loop {
            count += 1.0;
            if !claimer.claim(ALONE).await?.ids.is_empty() {
                break;
            }
            anyhow::ensure!(count < 10_000.0, "the only open lane was not found");
        }
        times.push(begun.elapsed().as_secs_f64() * 1_000.0);
        claims.push(count);
    }
    Ok(Search {
        lanes,
        longest_ms: times.iter().copied().fold(0.0, f64::max),
        median_ms: median(times),
        median_claims: median(claims),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_fairness_is_one_when_all_is_equal_and_a_share_when_one_has_all() {
        assert!((jain(&[7, 7, 7, 7]) - 1.0).abs() < 1e-9);
        assert!((jain(&[28, 0, 0, 0]) - 0.25).abs() < 1e-9);
        assert!(jain(&[]).abs() < 1e-9);
    }

    #[test]
    fn a_lane_that_got_nothing_has_a_share_too() {
        let open = HashSet::from([lane(1).0, lane(2).0]);
        let mut shares = shares(&[lane(1).0, lane(1).0, lane(3).0], &open);
        shares.sort_unstable();
        assert_eq!(shares, [0, 2]);
    }
}
