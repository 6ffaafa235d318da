//! Claims as a process makes them, one at a time, so that each can be timed: the same call with the same window of lanes
//! that `crates/queue/src/claim.rs` would ask for.

use std::time::{Duration, Instant};

use sqlx::{PgConnection, Row as _};
use uuid::Uuid;

use crate::driver::QUEUE;

/// The lanes that a claim visits at first, and at most.
const NARROW: (i32, i32) = (8, 64);
const WIDEST: i32 = 1024;

/// A process that claims.
pub(crate) struct Claimer {
    pub(crate) conn: PgConnection,
    worker: Uuid,
    cursor: Uuid,
    widened: u32,
    /// Whether the last claim was full, so that many jobs must be expected.
    is_deep: bool,
}

/// The result of one claim.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) ids: Vec<i64>,
    /// The lane of each job.
    pub(crate) lanes: Vec<Uuid>,
    /// Whether another claim may find something.
    pub(crate) more: bool,
    pub(crate) took: Duration,
}

impl Claimer {
    /// Begins at a random lane.
    pub(crate) fn new(conn: PgConnection) -> Self {
        Self {
            conn,
            worker: Uuid::now_v7(),
            cursor: Uuid::from_u128(rand::random()),
            widened: 0,
            is_deep: false,
        }
    }

    /// Claims up to `limit` jobs.
    pub(crate) async fn claim(&mut self, limit: i32) -> anyhow::Result<Batch> {
        let window = self.window(limit);
        let begun = Instant::now();
        let row = sqlx::query(
            "select * from queue.claim($1, $2, $3, $4, $5, null, null, 0::smallint, $6)",
        )
        .bind(self.worker)
        .bind(QUEUE.as_str())
        .bind(limit)
        .bind(self.cursor)
        .bind(window)
        .bind(self.is_deep)
        .fetch_one(&mut self.conn)
        .await?;
        let took = begun.elapsed();
        let ids: Vec<i64> = row
            .try_get::<Option<Vec<i64>>, _>("ids")?
            .unwrap_or_default();
        let lanes = row.try_get::<Option<Vec<Uuid>>, _>("lanes")?;
        self.cursor = row.try_get("next_group")?;
        self.is_deep = i32::try_from(ids.len())? >= limit;
        self.widen(row.try_get("visited")?, window, ids.len(), limit);
        Ok(Batch {
            ids,
            lanes: lanes.unwrap_or_default(),
            more: row.try_get("more")?,
            took,
        })
    }

    /// Ends jobs that were claimed.
    pub(crate) async fn finish(&mut self, ids: &[i64]) -> anyhow::Result<()> {
        sqlx::query("delete from queue.jobs where id = any ($1)")
            .bind(ids)
            .execute(&mut self.conn)
            .await?;
        Ok(())
    }

    fn window(&self, limit: i32) -> i32 {
        let narrow = limit.saturating_mul(2).clamp(NARROW.0, NARROW.1);
        narrow
            .checked_shl(self.widened)
            .map_or(WIDEST, |window| window.min(WIDEST))
    }

    fn widen(&mut self, visited: i32, window: i32, got: usize, limit: i32) {
        let is_full = i32::try_from(got).is_ok_and(|got| got >= limit);
        if visited >= window && !is_full && window < WIDEST {
            self.widened += 1;
        } else if visited < window / 2 || is_full {
            self.widened = self.widened.saturating_sub(1);
        }
    }
}
