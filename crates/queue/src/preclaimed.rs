//! Preclaimed jobs, which the enqueuing process takes at once: they are inserted as already claimed by it, in
//! the transaction that creates them, and handed to its own workers after the commit. They need no
//! claim, no wake-up and no poll.
//!
//! A worker takes such jobs only while its buffer is less than half full. A backlog is left to
//! claims, which divide it among all groups and lanes. Other jobs are inserted in the usual way.

mod inserted;
mod reservation;
mod uncommitted;

use std::sync::Arc;

use sqlx::PgConnection;

use self::{inserted::Inserted, uncommitted::Uncommitted};
use crate::{NewJobs, enqueue::enqueue, shared::Shared};

pub use self::reservation::{PreclaimedColumns, Reservation};

/// Jobs that are enqueued in a transaction that is not committed yet. Some of them are claimed by this
/// worker.
#[derive(Debug, Default)]
pub(crate) struct Enqueued {
    pub(crate) jobs: NewJobs,
    inserted: Inserted,
    taken: Uncommitted,
}

impl Enqueued {
    /// After the commit: hands over, counts and wakes.
    pub(crate) fn committed(self, shared: &Shared) {
        self.taken.hand_over(&self.jobs);
        self.inserted.announce(shared, &self.jobs);
    }
}

/// Enqueues jobs, and takes those that this process's workers have room for.
///
/// They are tracked before the commit, because its answer may take long, and the sweep for orphans must
/// not give them to others meanwhile.
pub(crate) async fn enqueue_preclaimed(
    conn: &mut PgConnection,
    shared: &Arc<Shared>,
    jobs: NewJobs,
) -> Result<Enqueued, sqlx::Error> {
    if jobs.is_empty() {
        return Ok(Enqueued::default());
    }
    let reservation = Reservation::new(shared.clone(), &jobs);
    if reservation.lanes.is_empty() {
        enqueue(conn, &jobs).await?;
        let places = reservation.places;
        let inserted = Inserted::new(&places, &vec![None; places.len()]);
        return Ok(Enqueued {
            jobs,
            inserted,
            taken: Uncommitted::default(),
        });
    }
    let (places, ids) = insert(conn, &reservation, &jobs).await?;
    let inserted = Inserted::new(&places, &ids);
    let taken = reservation.take(&jobs, &inserted);
    Ok(Enqueued {
        jobs,
        inserted,
        taken,
    })
}

/// Inserts all of these jobs, some as already claimed. Returns their places, and the ids of those
/// that were claimed.
pub(crate) async fn insert(
    conn: &mut PgConnection,
    reservation: &Reservation,
    jobs: &NewJobs,
) -> Result<(Vec<i32>, Vec<Option<i64>>), sqlx::Error> {
    let columns = jobs.columns()?;
    let held = reservation.columns();
    let answer = sqlx::query!(
        r#"select places as "places!", ids as "ids!: Vec<Option<i64>>"
           from queue.enqueue_held($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)"#,
        held.worker,
        held.places,
        columns.queues as &[&str],
        columns.groups,
        columns.lanes,
        columns.payloads,
        columns.formats,
        columns.priorities,
        columns.delays_ms,
        columns.max_attempts,
        held.wanted,
        held.group_caps as &[Option<i32>],
        held.lane_caps as &[Option<i32>],
    )
    .fetch_one(conn)
    .await?;
    Ok((answer.places, answer.ids))
}
