//! Ending a chain before its last slice, and forgetting chains that ended long ago.

use std::{marker::PhantomData, time::Duration};

use queue::{DeadJob, FinishTx, OnDead};
use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use tracing::error;
use uuid::Uuid;

use super::Chain;

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

pub(super) async fn end<C: Chain>(
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
