//! The fence: the two statements that take a job's row out of this worker's hands, if it is still there.
//!
//! A row is ours when it carries this worker and the number of our claim. Both statements change one of the two, so
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

// Both statements compare `locked_by` by a function: no statistics are kept of that. Of the column, they say that
// a worker younger than the last analyze holds no row, and the plan becomes a scan of the whole table.

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
        .map(|ended| (ended.hold.claim.job, ended.hold.claim.fence))
        .unzip();
    if ids.is_empty() {
        return Ok(Ours::default());
    }
    sqlx::query_as(
        "with gone as (
             delete from queue.jobs j
              using unnest($1::bigint[], $2::integer[]) as e (id, fence)
              where j.id = e.id and j.fence = e.fence and uuid_cmp(j.locked_by, $3) = 0
             returning j.id, j.fence
         )
         select coalesce(array_agg(id), '{}') as ids, coalesce(array_agg(fence), '{}') as fences,
                case when count(*) > 0 then pg_current_xact_id()::text::bigint end as transaction
           from gone",
    )
    .bind(ids)
    .bind(fences)
    .bind(worker)
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
                Verdict::Delete => continue,
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
            updates.fences.push(ended.hold.claim.fence);
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
    sqlx::query_as(
        "with kept as (
             update queue.jobs j
                set state = e.state,
                    gen = (select queue.enter_generation()),
                    locked_by = null,
                    attempt = j.attempt - e.refund,
                    run_at = coalesce(now() + e.delay_ms * interval '1 millisecond', j.run_at),
                    cause = e.cause,
                    last_error = coalesce(e.error, j.last_error)
               from unnest($1::bigint[], $2::integer[], $4::smallint[], $5::smallint[], $6::bigint[],
                           $7::text[], $8::text[])
                    as e (id, fence, state, refund, delay_ms, cause, error)
              where j.id = e.id and j.fence = e.fence and uuid_cmp(j.locked_by, $3) = 0
             returning j.id, j.fence
         )
         select coalesce(array_agg(id), '{}') as ids, coalesce(array_agg(fence), '{}') as fences,
                case when count(*) > 0 then pg_current_xact_id()::text::bigint end as transaction
           from kept",
    )
    .bind(updates.ids)
    .bind(updates.fences)
    .bind(worker)
    .bind(updates.states)
    .bind(updates.refunds)
    .bind(updates.delays_ms)
    .bind(updates.causes)
    .bind(updates.errors)
    .fetch_one(conn)
    .await
}
