//! Looks at the caps while others claim.

use std::{cell::Cell, time::Duration};

use serde::Serialize;
use sqlx::PgConnection;

use crate::{cluster::Cluster, driver::QUEUE};

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// What was seen.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Caps {
    /// How many checks there were.
    pub(super) checks: u64,
    /// The most lanes at their cap at a time.
    pub(super) reached: u64,
    /// Lanes with more running than their cap allows, over all checks.
    pub(super) over: u64,
}

/// Checks the caps.
pub(super) struct Watch {
    conn: PgConnection,
    caps: Caps,
}

impl Watch {
    pub(super) async fn new(cluster: &Cluster) -> anyhow::Result<Self> {
        Ok(Self {
            conn: cluster.connect().await?,
            caps: Caps::default(),
        })
    }

    /// Runs something, checks again and again meanwhile, and once more afterwards.
    pub(super) async fn during<T>(
        &mut self,
        act: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        let is_over = Cell::new(false);
        let act = async {
            let done = act.await;
            is_over.set(true);
            done
        };
        let look = async {
            while !is_over.get() {
                self.look().await?;
                tokio::time::sleep(PAUSE).await;
            }
            self.look().await
        };
        let (done, looked) = tokio::join!(act, look);
        looked?;
        done
    }

    pub(super) const fn seen(&self) -> Caps {
        self.caps
    }

    async fn look(&mut self) -> anyhow::Result<()> {
        let (reached, over): (i64, i64) = sqlx::query_as(
            "
            select count(*) filter (where running >= cap), count(*) filter (where running > cap)
              from (select l.cap,
                           (select count(*) from queue.jobs j
                             where j.queue = l.queue and j.state = 1 and j.lane = l.lane) as running
                      from queue.lanes l
                     where l.queue = $1 and l.cap is not null) lanes
            ",
        )
        .bind(QUEUE.as_str())
        .fetch_one(&mut self.conn)
        .await?;
        self.caps.checks += 1;
        self.caps.reached = self.caps.reached.max(reached.unsigned_abs());
        self.caps.over += over.unsigned_abs();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use sqlx::PgPool;

    use super::*;
    use crate::{fill_queue::fill, lane::lane};

    #[sqlx::test(migrator = "queue::MIGRATOR")]
    async fn a_lane_at_its_cap_is_told_from_one_over_it(pool: PgPool) -> anyhow::Result<()> {
        let mut conn = pool.acquire().await?.detach();
        for number in 1..=3 {
            queue::lanes::set_cap(&mut conn, QUEUE, lane(number), Some(2)).await?;
        }
        let jobs = [0, 0, 0, 1, 2, 2, 3, 3, 3];
        fill(&mut conn, jobs, Duration::ZERO).await?;
        sqlx::query("update queue.jobs set state = 1, locked_by = gen_random_uuid()")
            .execute(&mut conn)
            .await?;
        let mut watch = Watch {
            conn,
            caps: Caps::default(),
        };
        watch.during(async { Ok(()) }).await?;
        let Caps {
            checks,
            reached,
            over,
        } = watch.seen();
        assert_eq!((reached, over), (2, checks), "in each of {checks} checks");
        Ok(())
    }
}
