//! Chains of jobs: work that is done slice by slice, each slice by a job of its own.
//!
//! A chain has a row that tells how far it has got. A job does the next slice, and its effect
//! enqueues the job for the one after it, until the chain ends. The table of the rows has the
//! columns `id`, `state`, `ended_at` and `error`, and a column with the place where the next slice
//! begins ([`Chain::PLACE`]).
//!
//! A new chain needs: a table, a queue in [`jobs`](crate::jobs), an `impl Chain`, a function that
//! loads the next slice, an effect that calls `advance` first, and in `workers` an
//! `impl ChainWorker`.

use std::{marker::PhantomData, time::Duration};

use domain::chain::State;
use queue::{DeadJob, FinishTx, NewJob, NewJobs, OnDead, QueueName};
use serde::de::DeserializeOwned;
use sqlx::{AssertSqlSafe, Encode, PgConnection, PgPool, Postgres, Type, postgres::PgQueryResult};
use tracing::error;
use uuid::Uuid;

use crate::error::violates;

/// A kind of chain.
pub trait Chain: 'static {
    /// The table with its rows.
    const TABLE: &'static str;

    /// The column with the place where the next slice begins.
    const PLACE: &'static str = "walked_to";

    /// A place. Most chains walk items: a slice begins after this item; none: with the first.
    type Place: for<'q> Encode<'q, Postgres> + Type<Postgres> + Send + 'static;

    /// The queue of its jobs.
    const QUEUE: QueueName;

    /// The payload of its jobs. It names the row; how far the chain has got is in the row only.
    type Job: DeserializeOwned + Send + Sync + 'static;

    /// The row that a job belongs to.
    fn row(job: &Self::Job) -> Uuid;

    /// Removes what is no longer needed. Called when a chain ends before its last slice.
    fn ended(
        _conn: &mut PgConnection,
        _row: Uuid,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send {
        async { Ok(()) }
    }
}

/// Whether the row of a new chain was inserted. False: this constraint refused it, because such a
/// chain is running already.
pub(crate) fn is_inserted(
    inserted: Result<PgQueryResult, sqlx::Error>,
    constraint: &str,
) -> Result<bool, sqlx::Error> {
    match inserted {
        Ok(_) => Ok(true),
        Err(error) if violates(&error, constraint) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Enqueues the first job of a chain, in the transaction that inserts its row. Tell the queue of it
/// after the commit.
pub(crate) async fn begin(conn: &mut PgConnection, first: NewJob) -> Result<NewJobs, sqlx::Error> {
    let jobs = NewJobs::from(first);
    queue::enqueue(conn, &jobs).await?;
    Ok(jobs)
}

/// How long the row of a chain is kept after its end.
pub const KEPT: Duration = Duration::from_hours(90 * 24);

/// Stops a chain. False: it had ended already. The findings of a running slice are dropped.
pub(crate) async fn cancel<C: Chain>(
    conn: &mut PgConnection,
    row: Uuid,
) -> Result<bool, sqlx::Error> {
    end::<C>(conn, row, "cancelled", None).await
}

/// Deletes the rows of chains that ended longer ago than [`KEPT`], and returns how many.
pub async fn forget_old<C: Chain>(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let statement = format!(
        "delete from {} where ended_at <= now() - $1 * interval '1 second'",
        C::TABLE
    );
    let forgotten = sqlx::query(AssertSqlSafe(statement))
        .bind(KEPT.as_secs_f64())
        .execute(pool)
        .await?;
    Ok(forgotten.rows_affected())
}

/// What happens when a job of a chain dies: the chain has failed, and its row says why.
pub struct Died<C>(PhantomData<C>);

impl<C: Chain> OnDead for Died<C> {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for job in dead {
            let row = job.args().map(|named: C::Job| C::row(&named));
            let Ok(row) = row else {
                error!(job.id = %job.id, table = C::TABLE, "a dead job has no readable chain id");
                continue;
            };
            end::<C>(tx.conn, row, "failed", Some(job.cause.as_str())).await?;
        }
        Ok(())
    }
}

async fn end<C: Chain>(
    conn: &mut PgConnection,
    row: Uuid,
    state: &str,
    error: Option<&str>,
) -> Result<bool, sqlx::Error> {
    let statement = format!(
        "update {} set state = $2, ended_at = clock_timestamp(), error = $3 where id = $1 and state = 'running'",
        C::TABLE
    );
    let ended = sqlx::query(AssertSqlSafe(statement))
        .bind(row)
        .bind(state)
        .bind(error)
        .execute(&mut *conn)
        .await?;
    if ended.rows_affected() == 0 {
        return Ok(false);
    }
    C::ended(conn, row).await?;
    Ok(true)
}

/// What a job of a chain must do.
#[derive(Debug)]
pub enum Next<Slice> {
    /// Nothing: the chain has ended.
    Nothing,
    /// Come back after this time.
    Later(Duration),
    /// This.
    Slice(Slice),
}

/// What comes after a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Another slice.
    Open,
    /// Nothing: it was the last slice.
    Finished,
    /// Nothing, for this reason.
    Failed(&'static str),
}

impl End {
    /// After a slice that is the last one, or is not.
    pub(crate) const fn of(is_last: bool) -> Self {
        if is_last { Self::Finished } else { Self::Open }
    }
}

/// A slice, as far as its chain is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<Place> {
    /// Where the slice begins.
    pub(crate) from: Place,
    /// Where the next one begins.
    pub(crate) to: Place,
    pub(crate) end: End,
}

/// Records that a slice was done. False, and nothing is recorded, when the chain was stopped or is
/// not where the slice begins: then the slice must leave nothing behind. If the answer is true, the
/// row stays locked until the transaction ends.
pub(crate) async fn advance<C: Chain>(
    conn: &mut PgConnection,
    row: Uuid,
    step: Step<C::Place>,
) -> Result<bool, sqlx::Error> {
    let (state, error) = match step.end {
        End::Open => (State::Running, None),
        End::Finished => (State::Finished, None),
        End::Failed(reason) => (State::Failed, Some(reason)),
    };
    let statement = format!(
        "update {table} set {place} = $3, state = $4, error = $5, ended_at = case when $4 <> 'running' then clock_timestamp() end
         where id = $1 and state = 'running' and {place} is not distinct from $2",
        table = C::TABLE,
        place = C::PLACE,
    );
    let advanced = sqlx::query(AssertSqlSafe(statement))
        .bind(row)
        .bind(step.from)
        .bind(step.to)
        .bind(state.as_str())
        .bind(error)
        .execute(&mut *conn)
        .await?;
    if advanced.rows_affected() == 0 {
        return Ok(false);
    }
    if matches!(step.end, End::Failed(_)) {
        C::ended(conn, row).await?;
    }
    Ok(true)
}
