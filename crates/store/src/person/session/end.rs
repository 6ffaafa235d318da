//! Ending sessions.

use domain::id::{SessionId, UserId};
use sqlx::PgConnection;

use crate::Error;

/// Ends a session of a person. Tells whether there was one.
pub async fn end(conn: &mut PgConnection, user: UserId, session: SessionId) -> Result<bool, Error> {
    let ended = sqlx::query!(
        "delete from sessions where id = $1 and user_id = $2",
        session.as_uuid(),
        user.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(ended.rows_affected() > 0)
}

/// Ends the sessions of a person, except `but`. Tells how many.
pub async fn end_all(
    conn: &mut PgConnection,
    user: UserId,
    but: Option<SessionId>,
) -> Result<u64, Error> {
    let ended = sqlx::query!(
        "delete from sessions where user_id = $1 and ($2::uuid is null or id <> $2)",
        user.as_uuid(),
        but.map(SessionId::as_uuid),
    )
    .execute(conn)
    .await?;
    Ok(ended.rows_affected())
}
