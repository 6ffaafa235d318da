//! How long it takes to find the only lane that is not paused.

use std::time::{Duration, Instant};

use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    claimer::Claimer,
    driver::QUEUE,
    environment::Environment,
    fill_queue::{analyze, empty, fill},
    lane::lane,
    latency::median,
};

/// Jobs to a claim.
const CLAIM: i32 = 100;
/// Lanes of the search for work, and how often it is repeated.
pub(super) const PAUSED: u64 = 5_000;
const SEARCHES: usize = 20;
const A_DAY: Duration = Duration::from_hours(24);

/// How long it takes to find the only lane that is not paused.
#[derive(Debug, Serialize)]
pub(super) struct Search {
    pub(super) lanes: u64,
    pub(super) median_ms: f64,
    pub(super) longest_ms: f64,
    pub(super) median_claims: f64,
}

/// Finds the work of the only lane that is not paused, from anywhere in the ring.
pub(super) async fn search(
    environment: &Environment,
    conn: &mut PgConnection,
    lanes: u64,
) -> anyhow::Result<Search> {
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
        let mut claimer = Claimer::new(environment.cluster.connect().await?);
        // Prepares the connection's plans, which a process does once.
        sqlx::query("select queue.claim($1, 'no such queue', 1, $1, 1, null, null, 0::smallint)")
            .bind(Uuid::nil())
            .execute(&mut claimer.conn)
            .await?;
        let begun = Instant::now();
        let mut count = 0.0;
        loop {
            count += 1.0;
            if !claimer.claim(CLAIM).await?.ids.is_empty() {
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
