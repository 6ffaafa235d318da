//! Writers, claimers and housekeepers at the same time.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

use sqlx::PgPool;

use super::{ENQUEUE, claim, close, empty, leave, now, start_leaving};
use crate::generations::{Collector, Leave, gather_unreachable};

/// Writers whose transactions last a while, claimers, and two processes that leave generations as
/// fast as they can.
#[sqlx::test(migrator = "crate::MIGRATOR")]
async fn every_job_is_claimed_once_while_generations_change(pool: PgPool) {
    const JOBS: usize = 1200;
    let writing = AtomicBool::new(true);
    let generations = || async {
        let mut conn = pool.acquire().await.unwrap();
        let mut left = 0;
        while writing.load(SeqCst) {
            let choice = if left % 3 == 2 {
                Leave::Old
            } else {
                Leave::Young
            };
            let started = start_leaving(&mut conn, choice).await;
            if let Some(condemned) = started.condemned {
                leave(&mut conn, condemned).await.unwrap();
                left += 1;
            }
            for generation in started.held {
                empty(&mut conn, generation).await.unwrap();
                close(&mut conn, generation).await.unwrap();
            }
            // Every now and then, act as if the patience were over at once.
            if left % 5 == 0 {
                sqlx::query(
                    "update queue.generations set condemned_at = now() - interval '1 minute'",
                )
                .execute(&mut *conn)
                .await
                .unwrap();
            }
        }
    };
    let writers = async {
        let write = |slow: u64| {
            let pool = pool.clone();
            async move {
                for n in 0..(JOBS as u64 / 4) {
                    let mut tx = pool.begin().await.unwrap();
                    sqlx::query(ENQUEUE).execute(&mut *tx).await.unwrap();
                    if n % 50 == 0 {
                        tokio::time::sleep(Duration::from_millis(slow)).await;
                    }
                    tx.commit().await.unwrap();
                }
            }
        };
        tokio::join!(write(1), write(7), write(20), write(90));
        writing.store(false, SeqCst);
    };
    let claims = || async {
        let mut conn = pool.acquire().await.unwrap();
        let mut claimed = Vec::new();
        loop {
            let last = !writing.load(SeqCst);
            if last {
                // The generations that are still held.
                for _ in 0..3 {
                    Collector::default().round(&mut conn).await.unwrap();
                }
            }
            let some = claim(&mut conn).await;
            if some.is_empty() && last {
                return claimed;
            }
            // Some jobs are finished. The others run on and are moved.
            sqlx::query("delete from queue.jobs where id = any ($1) and id % 2 = 0")
                .bind(&some)
                .execute(&mut *conn)
                .await
                .unwrap();
            claimed.extend(some);
        }
    };
    let ((), (), (), one, other) =
        tokio::join!(writers, generations(), generations(), claims(), claims());
    // If the patience was over, a writer's generation may have been closed while it wrote. Its jobs
    // are where no claim looks, and the search for such jobs finds them.
    gather_unreachable(&mut pool.acquire().await.unwrap())
        .await
        .unwrap();
    let rest = claims().await;
    let mut times: HashMap<i64, u32> = HashMap::new();
    for id in one.into_iter().chain(other).chain(rest) {
        *times.entry(id).or_default() += 1;
    }
    assert_eq!(times.len(), JOBS);
    assert!(times.values().all(|&times| times == 1));
    let mut conn = pool.acquire().await.unwrap();
    let young = now(&mut conn).await.young;
    assert!(young > 10, "only {young} generations");
    // The claims may have won their last race against the generations. Running jobs are in a live
    // generation all the same.
    assert_eq!(gather_unreachable(&mut conn).await.unwrap(), 0);
}
