//! Chains of jobs: work that is done slice by slice, each slice by a job of its own.
//!
//! A chain has a row that tells how far it has got. A job does the next slice, and its effect
//! enqueues the job for the one after it, until the chain ends. The table of the rows has the
//! columns `id`, `state`, `ended_at` and `error`, and a column with the place where the next slice
//! begins ([`Chain::PLACE`]).
//!
//! A new chain needs: a table, a queue in [`jobs`](crate::jobs), an `impl Chain`, a function that
//! loads the next slice, an effect that calls `advance` first, and in `workers` an `impl Slices`.

mod end;
mod step;

use queue::{NewJob, NewJobs, QueueName};
use serde::de::DeserializeOwned;
use sqlx::{Encode, PgConnection, Postgres, Type, postgres::PgQueryResult};
use uuid::Uuid;

pub use self::end::{Died, KEPT};
pub(crate) use self::{
    end::{cancel, forget_old},
    step::{End, Step, advance},
};
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
