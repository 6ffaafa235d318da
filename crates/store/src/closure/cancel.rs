//! Cancelling a closure during its grace, and continuing one that failed.

use domain::id::ClosureId;
use queue::NewJobs;
use sqlx::PgConnection;

use crate::{Error, chain, jobs};

/// Cancels a closure: exactly what it has disabled is open again, and its exports end. False: its grace
/// is over, or it had ended. Run it in a transaction.
pub async fn cancel(conn: &mut PgConnection, closure: ClosureId) -> Result<bool, Error> {
    let cancelled = sqlx::query!(
        "
        update closures
        set state = 'cancelled', ended_at = clock_timestamp(), waits_for = null, error = null
        where id = $1 and state in ('running', 'failed') and phase = 'grace'
        ",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    if cancelled.rows_affected() == 0 {
        return Ok(false);
    }
    sqlx::query!(
        "update sites set closure_id = null where id in (select site_id from closure_sites where closure_id = $1)",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "update teams set closure_id = null where closure_id = $1",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from exports where id in (select export_id from closure_sites where closure_id = $1)",
        closure.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from closure_sites where closure_id = $1",
        closure.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(true)
}

/// Continues a closure that failed, where it was. None: it did not fail.
pub async fn resume(conn: &mut PgConnection, closure: ClosureId) -> Result<Option<NewJobs>, Error> {
    let team = sqlx::query_scalar!(
        "
        update closures set state = 'running', ended_at = null, error = null
        where id = $1 and state = 'failed'
        returning team_id
        ",
        closure.as_uuid(),
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(team) = team else { return Ok(None) };
    Ok(Some(
        chain::begin(conn, jobs::close(closure, team.into())).await?,
    ))
}
