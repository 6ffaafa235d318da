//! What chains of jobs have in common: a row that tells how far a chain has got, a job for its next slice, whose effect
//! enqueues the one after it, and an end. The row's table has the columns `id`, `state`, `ended_at` and `error`.

use std::{marker::PhantomData, time::Duration};

use queue::{DeadJob, FinishTx, Obituary};
use serde::de::DeserializeOwned;
use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use tracing::error;
use uuid::Uuid;

/// How long a chain is remembered after its end.
pub const KEPT: Duration = Duration::from_hours(90 * 24);

/// A kind of chain.
pub trait Chain: 'static {
    /// The table with its rows.
    const TABLE: &'static str;

    /// The payload of its jobs.
    type Job: DeserializeOwned;

    /// The row that a job belongs to.
    fn row(job: &Self::Job) -> Uuid;

    /// Removes what nobody needs when a chain has ended before its last slice.
    fn ended(
        _conn: &mut PgConnection,
        _row: Uuid,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send {
        async { Ok(()) }
    }
}

/// Stops a chain; false: it has ended already. The slice that runs counts for nothing.
pub(crate) async fn cancel<C: Chain>(
    conn: &mut PgConnection,
    row: Uuid,
) -> Result<bool, sqlx::Error> {
    end::<C>(conn, row, "cancelled", None).await
}

/// Forgets chains that ended before [`KEPT`], and says how many.
pub(crate) async fn forget_old<C: Chain>(pool: &PgPool) -> Result<u64, sqlx::Error> {
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

/// A chain that could not go on: it says so.
pub struct Died<C>(PhantomData<C>);

impl<C: Chain> Obituary for Died<C> {
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
