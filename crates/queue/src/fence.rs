//! The fence: the statement that writes outcomes into the rows of jobs that this worker still has.
//!
//! A row is ours if it has this worker and the number of our claim. Every outcome changes one of
//! the two, so a second try of the same outcome finds nothing and changes nothing.

use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    JobId,
    outcome::{Disposition, Ended},
};

/// The rows that were still ours, as parallel arrays, because hundreds of rows cost more to send
/// and to read.
#[derive(Debug, Default)]
pub(crate) struct Ours {
    pub(crate) ids: Vec<JobId>,
    pub(crate) fences: Vec<i32>,
    /// The number of the transaction, if it changed anything.
    pub(crate) transaction: Option<i64>,
}

/// What to write, in columns.
#[derive(Default)]
struct Columns<'a> {
    done: Jobs,
    running: Jobs,
    kept: Jobs,
    states: Vec<i16>,
    refunds: Vec<i16>,
    delays_ms: Vec<Option<i64>>,
    causes: Vec<Option<&'static str>>,
    errors: Vec<Option<&'a str>>,
}

#[derive(Default)]
struct Jobs {
    ids: Vec<JobId>,
    fences: Vec<i32>,
}

impl Jobs {
    fn push(&mut self, ended: &Ended) {
        self.ids.push(ended.in_flight.run.job);
        self.fences.push(ended.in_flight.fence());
    }
}

impl<'a> Columns<'a> {
    fn of(ended: &'a [Ended]) -> Self {
        let mut columns = Self::default();
        for ended in ended {
            let (state, charged, delay_ms, cause, error) = match ended.disposition() {
                Disposition::Delete => {
                    columns.done.push(ended);
                    continue;
                }
                Disposition::GoOn => {
                    columns.running.push(ended);
                    continue;
                }
                // It keeps its place: `run_at` does not change.
                Disposition::Release => (0, false, None, None, None),
                Disposition::Schedule {
                    delay_ms: 0,
                    charged,
                    error,
                } => (0, charged, Some(0), None, error),
                Disposition::Schedule {
                    delay_ms,
                    charged,
                    error,
                } => (2, charged, Some(delay_ms), None, error),
                Disposition::Doom { cause, error } => {
                    (3, true, Some(0), Some(cause.as_str()), Some(error))
                }
            };
            columns.kept.push(ended);
            columns.states.push(state);
            columns.refunds.push(i16::from(!charged));
            columns.delays_ms.push(delay_ms);
            columns.causes.push(cause);
            columns.errors.push(error);
        }
        columns
    }
}

/// Deletes the rows of finished jobs, moves those at a checkpoint to the next fence, and updates
/// those of jobs that go on, each only if it is still ours. Returns the rows that were, with the
/// fences that they had.
pub(crate) async fn complete(
    conn: &mut PgConnection,
    worker: Uuid,
    ended: &[Ended],
) -> Result<Ours, sqlx::Error> {
    let columns = Columns::of(ended);
    if columns.kept.ids.is_empty() && columns.running.ids.is_empty() {
        // The usual case has the shortest statement.
        return sqlx::query_as!(
            Ours,
            r#"select ids as "ids!: Vec<JobId>", fences as "fences!", transaction from queue.finish($1, $2, $3)"#,
            worker,
            &columns.done.ids as &[JobId],
            &columns.done.fences,
        )
        .fetch_one(conn)
        .await;
    }
    sqlx::query_as!(
        Ours,
        r#"select ids as "ids!: Vec<JobId>", fences as "fences!", transaction
                 from queue.settle($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"#,
        worker,
        &columns.done.ids as &[JobId],
        &columns.done.fences,
        &columns.running.ids as &[JobId],
        &columns.running.fences,
        &columns.kept.ids as &[JobId],
        &columns.kept.fences,
        &columns.states,
        &columns.refunds,
        &columns.delays_ms as &[Option<i64>],
        &columns.causes as &[Option<&str>],
        &columns.errors as &[Option<&str>],
    )
    .fetch_one(conn)
    .await
}
