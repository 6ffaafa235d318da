//! Who an account is at a provider of single sign-on.

use domain::{id::UserId, key::SecretHash, sign_in::ATTEMPT};
use sqlx::PgConnection;

use super::session::seconds;
use crate::Error;

/// The account of an issuer's subject, if it has one.
pub async fn user(
    conn: &mut PgConnection,
    issuer: &str,
    subject: &str,
) -> Result<Option<UserId>, Error> {
    let user = sqlx::query_scalar!(
        "select user_id from identities where issuer = $1 and subject = $2",
        issuer,
        subject,
    )
    .fetch_optional(conn)
    .await?;
    Ok(user.map(UserId::from))
}

/// Whether the account is known at this issuer.
pub async fn is_known(conn: &mut PgConnection, issuer: &str, user: UserId) -> Result<bool, Error> {
    let is_known = sqlx::query_scalar!(
        r#"select exists (select from identities where issuer = $1 and user_id = $2) as "is_known!""#,
        issuer,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(is_known)
}

/// Notes that the account is this subject of the issuer. Tells whether it was noted: not if the subject has an account, or
/// the account another subject.
pub async fn create(
    conn: &mut PgConnection,
    issuer: &str,
    subject: &str,
    user: UserId,
) -> Result<bool, Error> {
    let created = sqlx::query!(
        "insert into identities (issuer, subject, user_id) values ($1, $2, $3) on conflict do nothing",
        issuer,
        subject,
        user.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(created.rows_affected() > 0)
}

/// Uses up an attempt. Tells whether it was the first use. Forgets attempts that are too old to be tried, 100 at a time.
pub async fn use_up(conn: &mut PgConnection, state: SecretHash) -> Result<bool, Error> {
    sqlx::query!(
        "
        delete from sign_on_attempts
        where key in (
            select key
            from sign_on_attempts
            where used_at < now() - make_interval(secs => $1)
            order by used_at
            limit 100
            for update skip locked
        )
        ",
        // Another process may have another clock.
        seconds(ATTEMPT * 2),
    )
    .execute(&mut *conn)
    .await?;
    let used = sqlx::query!(
        "insert into sign_on_attempts (key) values ($1) on conflict do nothing",
        state.as_bytes(),
    )
    .execute(conn)
    .await?;
    Ok(used.rows_affected() > 0)
}
