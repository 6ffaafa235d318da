//! The finishing transaction: removes or reschedules the jobs of a batch that are still ours, and applies the
//! effects of exactly those.
//!
//! The fence is the job's id, this worker, and the number of the claim. It is checked by the statement that
//! takes the row out of our hands, so a second try of the same outcome finds nothing and changes nothing.

use std::{
    any::TypeId,
    collections::{BTreeMap, HashSet},
    fmt,
    panic::AssertUnwindSafe,
};

use futures::FutureExt;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, Transaction};
use tokio::time::timeout;
use tracing::{info, warn};
use uuid::Uuid;

use crate::{
    FinishTx, JobId, NewJobs, QueueName, Retry,
    effect::AnyEffect,
    enqueue::enqueue,
    fault::Fault,
    handle::Shared,
    link::Link,
    metrics,
    outcome::{Ended, Outcome, Verdict},
    supervise::panic_text,
};

/// Why a batch was not written; everything is rolled back.
#[derive(Debug)]
pub(crate) enum Failure {
    Sql(sqlx::Error),
    Panic(String),
    /// No answer within the deadline.
    TimedOut,
}

impl Failure {
    pub(crate) fn fault(&self) -> Fault {
        match self {
            Self::Sql(error) => Fault::of(error),
            Self::Panic(_) => Fault::Effect,
            Self::TimedOut => Fault::Unclear,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sql(error) => error.fmt(f),
            Self::Panic(text) => write!(f, "it panicked: {text}"),
            Self::TimedOut => f.write_str("no answer within the deadline"),
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(error)
    }
}

/// What a committed transaction did.
#[derive(Debug)]
pub(crate) struct Written {
    survivors: HashSet<(JobId, i32)>,
    follow_ups: NewJobs,
}

/// A job's row, by the fence that it had.
#[derive(Debug, sqlx::FromRow)]
struct Fenced {
    id: JobId,
    fence: i32,
    transaction: i64,
}

/// Writes a batch in one transaction.
pub(crate) async fn settle(
    shared: &Shared,
    link: &mut Link,
    ended: &[Ended],
) -> Result<Written, Failure> {
    let (written, transaction) = match prepare_and_commit(shared, link, ended).await {
        Ok(written) => return Ok(written),
        Err(Broken::Failed(failure)) => {
            // A server that answers with an error is alive and has rolled back.
            if !matches!(failure, Failure::Sql(sqlx::Error::Database(_))) {
                link.give_up();
            }
            return Err(failure);
        }
        Err(Broken::Unanswered {
            written,
            transaction,
        }) => (written, transaction),
    };
    link.give_up();
    if was_committed(shared, link, transaction).await {
        info!(
            jobs = ended.len(),
            "the answer to a commit was lost; it had succeeded"
        );
        Ok(written)
    } else {
        Err(Failure::TimedOut)
    }
}

enum Broken {
    Failed(Failure),
    /// The commit was sent and not answered.
    Unanswered {
        written: Written,
        transaction: i64,
    },
}

impl<F: Into<Failure>> From<F> for Broken {
    fn from(failure: F) -> Self {
        Self::Failed(failure.into())
    }
}

async fn prepare_and_commit(
    shared: &Shared,
    link: &mut Link,
    ended: &[Ended],
) -> Result<Written, Broken> {
    // The server's own timeouts come first; ours is for a server that is not heard of any more.
    let patience = shared.config.deadline.mul_f64(1.5);
    let prepared = timeout(patience, async {
        let conn = link.get().await?;
        prepare(conn, shared, ended).await
    });
    let (tx, written, transaction) = match AssertUnwindSafe(prepared).catch_unwind().await {
        Ok(Ok(prepared)) => prepared?,
        Ok(Err(_)) => return Err(Failure::TimedOut.into()),
        Err(panic) => return Err(Failure::Panic(panic_text(&*panic).to_owned()).into()),
    };
    match (timeout(patience, tx.commit()).await, transaction) {
        (Ok(Ok(())), _) => Ok(written),
        (Ok(Err(error @ sqlx::Error::Database(_))), _) => Err(Failure::Sql(error).into()),
        (_, Some(transaction)) => Err(Broken::Unanswered {
            written,
            transaction,
        }),
        // Nothing was written.
        (_, None) => Err(Failure::TimedOut.into()),
    }
}

/// All of the transaction but the commit, and its number if it changed anything.
async fn prepare<'c>(
    conn: &'c mut PgConnection,
    shared: &Shared,
    ended: &[Ended],
) -> Result<(Transaction<'c, Postgres>, Written, Option<i64>), sqlx::Error> {
    // So that neither a stuck statement nor a process stopped in the middle keeps its rows locked.
    let deadline = shared.config.deadline.as_millis();
    let begin = format!(
        "begin; set local statement_timeout = {deadline}; \
         set local idle_in_transaction_session_timeout = {deadline}"
    );
    let mut tx = conn.begin_with(AssertSqlSafe(begin)).await?;
    let mut rows = delete_finished(&mut tx, shared.worker, ended).await?;
    rows.extend(update_unfinished(&mut tx, shared.worker, ended).await?);
    let transaction = rows.first().map(|row| row.transaction);
    let survivors = rows.into_iter().map(|row| (row.id, row.fence)).collect();
    let mut finish = FinishTx {
        conn: &mut tx,
        jobs: NewJobs::new(),
    };
    apply_effects(ended, &survivors, &mut finish).await?;
    let FinishTx { conn, jobs } = finish;
    enqueue(conn, &jobs).await?;
    Ok((
        tx,
        Written {
            survivors,
            follow_ups: jobs,
        },
        transaction,
    ))
}

// Both statements compare `locked_by` as text: no statistics are kept of that expression. Of the column, they say
// that a worker younger than the last analyze holds no row, and the plan becomes a scan of the whole table.

async fn delete_finished(
    conn: &mut PgConnection,
    worker: Uuid,
    ended: &[Ended],
) -> Result<Vec<Fenced>, sqlx::Error> {
    let finished = ended
        .iter()
        .filter(|ended| ended.verdict() == Verdict::Delete);
    let (ids, fences): (Vec<_>, Vec<_>) = finished
        .map(|ended| (ended.hold.claim.job, ended.hold.claim.fence))
        .unzip();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    sqlx::query_as(
        "delete from queue.jobs j
          using unnest($1::bigint[], $2::integer[]) as e (id, fence)
          where j.id = e.id and j.fence = e.fence and j.locked_by::text = $3
         returning j.id, j.fence, pg_current_xact_id()::text::bigint as transaction",
    )
    .bind(ids)
    .bind(fences)
    .bind(worker.to_string())
    .fetch_all(conn)
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

async fn update_unfinished(
    conn: &mut PgConnection,
    worker: Uuid,
    ended: &[Ended],
) -> Result<Vec<Fenced>, sqlx::Error> {
    let updates = Updates::of(ended);
    if updates.ids.is_empty() {
        return Ok(Vec::new());
    }
    // A released job keeps its place: `run_at` stays as it was.
    sqlx::query_as(
        "update queue.jobs j
            set state = e.state,
                locked_by = null,
                attempt = j.attempt - e.refund,
                run_at = coalesce(now() + e.delay_ms * interval '1 millisecond', j.run_at),
                cause = e.cause,
                last_error = coalesce(e.error, j.last_error)
           from unnest($1::bigint[], $2::integer[], $4::smallint[], $5::smallint[], $6::bigint[],
                       $7::text[], $8::text[])
                as e (id, fence, state, refund, delay_ms, cause, error)
          where j.id = e.id and j.fence = e.fence and j.locked_by::text = $3
         returning j.id, j.fence, pg_current_xact_id()::text::bigint as transaction",
    )
    .bind(updates.ids)
    .bind(updates.fences)
    .bind(worker.to_string())
    .bind(updates.states)
    .bind(updates.refunds)
    .bind(updates.delays_ms)
    .bind(updates.causes)
    .bind(updates.errors)
    .fetch_all(conn)
    .await
}

/// Applies the effects of the survivors, those of each type together.
async fn apply_effects(
    ended: &[Ended],
    survivors: &HashSet<(JobId, i32)>,
    tx: &mut FinishTx<'_>,
) -> Result<(), sqlx::Error> {
    // In the order of the types, the same in every batch, so that two finishers lock tables alike.
    let mut kinds: BTreeMap<TypeId, Vec<(JobId, u16, &AnyEffect)>> = BTreeMap::new();
    for ended in ended {
        let claim = &ended.hold.claim;
        if let Some(effect) = ended.effect()
            && survivors.contains(&(claim.job, claim.fence))
        {
            kinds
                .entry(effect.kind())
                .or_default()
                .push((claim.job, claim.attempt(), effect));
        }
    }
    for batch in kinds.values() {
        AnyEffect::apply_all(batch, tx).await?;
    }
    Ok(())
}

/// Looks up what became of a transaction whose commit was not answered. Waits until the database can tell; when
/// it no longer knows, or the queue closes, it counts as rolled back: the fence makes another try safe.
async fn was_committed(shared: &Shared, link: &mut Link, transaction: i64) -> bool {
    let mut tries = 0;
    loop {
        match timeout(shared.config.deadline, status(link, transaction)).await {
            // The server has not yet noticed that its client is gone.
            Ok(Ok(Some(status))) if status == "in progress" => {}
            Ok(Ok(status)) => return status.as_deref() == Some("committed"),
            Ok(Err(error)) => {
                warn!(%error, "cannot look up an unanswered commit yet");
                link.give_up();
            }
            Err(_) => link.give_up(),
        }
        tries += 1;
        if shared.pause(Retry::OUTAGE.delay(tries)).await {
            return false;
        }
    }
}

async fn status(link: &mut Link, transaction: i64) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar("select pg_xact_status($1::text::xid8)")
        .bind(transaction.to_string())
        .fetch_one(link.get().await?)
        .await
}

impl Written {
    /// Counts and logs what was written, and wakes whoever can go on now.
    pub(crate) fn report(self, shared: &Shared, ended: &[Ended]) {
        let mut outcomes: BTreeMap<(QueueName, &'static str), u64> = BTreeMap::new();
        let mut retries: BTreeMap<(QueueName, &'static str), u64> = BTreeMap::new();
        let mut fenced = 0;
        for ended in ended {
            let claim = &ended.hold.claim;
            if !self.survivors.contains(&(claim.job, claim.fence)) {
                fenced += 1;
                continue;
            }
            let outcome = match ended.verdict() {
                Verdict::Delete => "done",
                Verdict::Release => "released",
                Verdict::Doom { .. } => "dead",
                Verdict::Schedule {
                    delay_ms,
                    error: Some(error),
                    ..
                } => {
                    warn!(job = %claim.job, queue = %claim.queue, attempt = claim.attempt, delay_ms,
                        error, "a job failed and will be tried again");
                    "retry"
                }
                Verdict::Schedule { error: None, .. } => "again",
            };
            *outcomes.entry((claim.queue, outcome)).or_default() += 1;
            if let ("retry", Outcome::Failed { reason, .. }) = (outcome, &ended.outcome) {
                *retries.entry((claim.queue, reason.as_str())).or_default() += 1;
            }
        }
        if fenced > 0 {
            warn!(
                jobs = fenced,
                "outcomes were refused: the jobs were no longer this worker's"
            );
            metrics::fenced(fenced);
        }
        for (&(queue, reason), &count) in &retries {
            metrics::retried(queue.as_str(), reason, count);
        }
        for (&(queue, outcome), &count) in &outcomes {
            metrics::finished(queue, outcome, count);
            match outcome {
                "released" => shared.wakers.wake([queue.as_str()]),
                "dead" => shared.doomed.notify_one(),
                // The next scheduled job may be nearer than a sleeper thinks.
                "retry" | "again" => shared.wakers.wake_here(queue.as_str()),
                _ => shared.wakers.room(queue.as_str()),
            }
        }
        shared.enqueued(&self.follow_ups);
    }
}
