//! What a session has proved: the second factor, and the password given again.

use domain::{
    id::{SessionId, UserId},
    key::SessionSecret,
};
use sqlx::PgConnection;

use crate::Error;

/// Notes that the second factor was given, and replaces the secret of the session. The old secret
/// stops working.
pub async fn raise(conn: &mut PgConnection, session: SessionId) -> Result<SessionSecret, Error> {
    let secret = SessionSecret::generate(std::iter::repeat_with(rand::random));
    let hash = secret.hash();
    sqlx::query!(
        "update sessions set hash = $2, factor_at = now(), failed_codes = 0 where id = $1",
        session.as_uuid(),
        hash.as_bytes(),
    )
    .execute(conn)
    .await?;
    Ok(secret)
}

/// Makes all sessions of a person give the second factor again.
pub async fn lower_all(conn: &mut PgConnection, user: UserId) -> Result<(), Error> {
    sqlx::query!(
        "update sessions set factor_at = null where user_id = $1",
        user.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Counts a wrong code, and tells how many there were in this session.
pub async fn count_wrong_code(conn: &mut PgConnection, session: SessionId) -> Result<i16, Error> {
    let failed = sqlx::query_scalar!(
        "update sessions set failed_codes = failed_codes + 1 where id = $1 returning failed_codes",
        session.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(failed)
}

/// Notes that the password was given again.
pub async fn note_password(conn: &mut PgConnection, session: SessionId) -> Result<(), Error> {
    sqlx::query!(
        "update sessions set password_at = now() where id = $1",
        session.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
