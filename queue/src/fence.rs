//! The fence: the statements that write what became of a job into its row, if it is still this worker's.
//!
//! A row is ours when it carries this worker and the number of our claim. Each statement changes one of the two, so
//! a second try of the same outcome finds nothing and changes nothing.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    JobId,
    outcome::{Ended, Verdict},
};

/// The rows that were still ours: two parallel arrays, because hundreds of rows cost more to send and to read.
#[derive(Debug, Default, sqlx::FromRow)]
pub(crate) struct Ours {
    pub(crate) ids: Vec<JobId>,
    pub(crate) fences: Vec<i32>,
    /// The number of the transaction, if it changed anything.
    pub(crate) transaction: Option<i64>,
}

/// Deletes the rows of finished jobs that are still ours.
pub(crate) async fn delete_finished(
    conn: &mut PgConnection,
    worker: Uuid,
    ended: &[Ended],
) -> Result<Ours, sqlx::Error> {
    let finished = ended
        .iter()
        .filter(|ended| ended.verdict() == Verdict::Delete);
    let (ids, fences): (Vec<_>, Vec<_>) = finished
        .map(|ended| (ended.hold.claim.job, ended.hold.fence()))
        .unzip();
    if ids.is_empty() {
        return Ok(Ours::default());
    }
    sqlx::query_as("select * from queue.finish($1, $2, $3)")
        .bind(worker)
        .bind(ids)
        .bind(fences)
        .fetch_one(conn)
        .await
}

/// Moves the rows of jobs that reached a checkpoint, and are still ours, on to the next fence.
pub(crate) async fn advance_running(
    conn: &mut PgConnection,
    worker: Uuid,
    ended: &[Ended],
) -> Result<Ours, sqlx::Error> {
    let running = ended
        .iter()
        .filter(|ended| ended.verdict() == Verdict::GoOn);
    let (ids, fences): (Vec<_>, Vec<_>) = running
        .map(|ended| (ended.hold.claim.job, ended.hold.fence()))
        .unzip();
    if ids.is_empty() {
        return Ok(Ours::default());
    }
    sqlx::query_as("select * from queue.checkpoint($1, $2, $3)")
        .bind(worker)
        .bind(ids)
        .bind(fences)
        .fetch_one(conn)
        .await
}

/// The rows of jobs that live on, in columns.
#[derive(Default)]
struct Updates<'a> {
    ids: Vec<JobId>,
    fences: Vec<i32>,
    states: Vec<i16>,
    refunds: Vec<i16>,
    delays_ms: Vec<Option<i64>>,
    causes: Vec<Option<&'static str>>,
    errors: Vec<Option<&'a str>>,
}

impl<'a> Updates<'a> {
    fn of(ended: &'a [Ended]) -> Self {
        let mut updates = Self::default();
        for ended in ended {
            let (state, charged, delay_ms, cause, error) = match ended.verdict() {
                Verdict::Delete | Verdict::GoOn => continue,
                Verdict::Release => (0, false, None, None, None),
                Verdict::Schedule {
                    delay_ms: 0,
                    charged,
                    error,
                } => (0, charged, Some(0), None, error),
                Verdict::Schedule {
                    delay_ms,
                    charged,
                    error,
                } => (2, charged, Some(delay_ms), None, error),
                Verdict::Doom { cause, error } => {
                    (3, true, Some(0), Some(cause.as_str()), Some(error))
                }
            };
            updates.ids.push(ended.hold.claim.job);
            updates.fences.push(ended.hold.fence());
            updates.states.push(state);
            updates.refunds.push(i16::from(!charged));
            updates.delays_ms.push(delay_ms);
            updates.causes.push(cause);
            updates.errors.push(error);
        }
        updates
    }
}

/// Updates the rows of jobs that live on and are still ours.
pub(crate) async fn update_unfinished(
    conn: &mut PgConnection,
    worker: Uuid,
    ended: &[Ended],
) -> Result<Ours, sqlx::Error> {
    let updates = Updates::of(ended);
    if updates.ids.is_empty() {
        return Ok(Ours::default());
    }
    // A released job keeps its place: `run_at` stays as it was.
    sqlx::query_as("select * from queue.keep($1, $2, $3, $4, $5, $6, $7, $8)")
        .bind(worker)
        .bind(updates.ids)
        .bind(updates.fences)
        .bind(updates.states)
        .bind(updates.refunds)
        .bind(updates.delays_ms)
        .bind(updates.causes)
        .bind(updates.errors)
        .fetch_one(conn)
        .await
}
