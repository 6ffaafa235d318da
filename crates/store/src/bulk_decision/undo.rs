//! Undoing what is still held of a bulk decision.

use domain::id::BulkDecisionId;
use sqlx::PgConnection;

use crate::Error;

/// Deletes the decisions that are still held, and says how many: their reviews wait again. Jobs that
/// find no decision tell nothing.
pub(super) async fn undo(conn: &mut PgConnection, bulk: BulkDecisionId) -> Result<u64, Error> {
    lock_reviews(conn, bulk).await?;
    let undone = forget_held(conn, bulk).await?;
    if undone > 0 {
        count(conn, bulk, undone).await?;
    }
    Ok(undone)
}

/// Locks reviews before opinions, as telling does.
async fn lock_reviews(conn: &mut PgConnection, bulk: BulkDecisionId) -> Result<(), Error> {
    sqlx::query!(
        "
        select id
        from review_tasks
        where id in (select task_id from review_opinions where bulk_id = $1 and outcome is null)
        order by id
        for no key update
        ",
        bulk.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    Ok(())
}

/// Decisions in reviews that have ended stay: their jobs find that somebody else decided.
async fn forget_held(conn: &mut PgConnection, bulk: BulkDecisionId) -> Result<u64, Error> {
    let undone = sqlx::query!(
        "
        with undone as (
            delete from review_opinions o
            using review_tasks t
            where o.bulk_id = $1 and o.outcome is null and t.id = o.task_id
            returning o.task_id
        )
        update review_tasks t
        set held_until = null
        from undone
        where t.id = undone.task_id
        ",
        bulk.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(undone.rows_affected())
}

async fn count(conn: &mut PgConnection, bulk: BulkDecisionId, undone: u64) -> Result<(), Error> {
    sqlx::query!(
        "update bulk_decisions set undone = undone + $2 where id = $1",
        bulk.as_uuid(),
        i32::try_from(undone).unwrap_or(i32::MAX),
    )
    .execute(conn)
    .await?;
    Ok(())
}
