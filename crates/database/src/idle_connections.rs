//! Closes connections that rest in pools, so that others can have their places on the server.
//!
//! A pool gives out its connections in turn. Under a light load, all of them are used from time to
//! time, and none rests for long. So what counts is how many rested at the same time, all the time.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::PgPool;
use tokio::time::{sleep, timeout};

use crate::connection_shortage;

/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// How many looks it takes to know how many connections a pool can do without.
const LOOKS: u32 = 20;
/// So many may rest.
const FLOOR: usize = 2;
/// How long closing a connection may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// Trims pools for ever. More may be added meanwhile.
pub(crate) async fn run(pools: Arc<Mutex<Vec<PgPool>>>) {
    loop {
        let mut least = Vec::new();
        for _ in 0..LOOKS {
            sleep(LOOK).await;
            let pools = pools.lock().unwrap_or_else(PoisonError::into_inner).clone();
            least.resize(pools.len(), usize::MAX);
            for (pool, least) in pools.iter().zip(&mut least) {
                let idle = pool.num_idle();
                *least = idle.min(*least);
                if connection_shortage::is_scarce() {
                    close(pool, idle).await;
                }
            }
        }
        let pools = pools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (pool, least) in pools.iter().zip(least) {
            close(pool, surplus(least)).await;
        }
    }
}

/// How many connections to close if at least so many rested all the time: half of those above the
/// floor, because the next seconds may need more than the last ones.
fn surplus(least: usize) -> usize {
    least.saturating_sub(FLOOR).div_ceil(2)
}

async fn close(pool: &PgPool, connections: usize) {
    for _ in 0..connections {
        let Some(conn) = pool.try_acquire() else {
            return;
        };
        // One that does not answer is dropped.
        let _ = timeout(PATIENCE, conn.close()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_what_rests_goes_each_time_and_a_few_stay() {
        let mut resting = 16;
        let mut rounds = 0;
        while surplus(resting) > 0 {
            resting -= surplus(resting);
            rounds += 1;
        }
        assert_eq!((resting, rounds), (FLOOR, 4));
        assert_eq!(surplus(0), 0);
    }
}
