//! Who an account is at a provider of single sign-on.

use chrono::{DateTime, Utc};
use domain::{
    email::Email,
    id::{IdentityId, SessionId, UserId},
    key::SecretHash,
    sign_in_limits::ATTEMPT,
    subject::Subject,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::session::seconds;
use crate::Error;

/// An account's connection with a person at a provider, as the account's owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The connection.
    pub id: IdentityId,
    /// The provider. It is not always the one that is configured now.
    pub issuer: String,
    /// The address there, as far as it is known.
    pub email: Option<String>,
    /// Since when the account is connected.
    pub created_at: DateTime<Utc>,
    /// When somebody signed in with it last, as far as it is known.
    pub last_used_at: Option<DateTime<Utc>>,
}

/// What a provider says about the address of a person.
#[derive(Clone, Copy, Debug)]
pub struct Address<'a> {
    /// The address.
    pub email: Option<&'a Email>,
    /// Whether the provider calls it verified.
    pub is_verified: bool,
}

/// The account of an issuer's subject, if it has one.
pub async fn user(
    conn: &mut PgConnection,
    issuer: &str,
    subject: &Subject,
) -> Result<Option<UserId>, Error> {
    let user = sqlx::query_scalar!(
        "select user_id from identities where issuer = $1 and subject = $2",
        issuer,
        subject.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(user.map(UserId::from))
}

/// Notes that the account is this subject of the issuer. None if the subject has an account, or the account another subject.
pub async fn create(
    conn: &mut PgConnection,
    issuer: &str,
    subject: &Subject,
    user: UserId,
    address: Address<'_>,
) -> Result<Option<IdentityId>, Error> {
    let created = sqlx::query_scalar!(
        "
        insert into identities (id, issuer, subject, user_id, email, proven_at)
        select $1, $2, $3, u.id, $5, case when $6 and u.email = $5 then now() end
        from users u
        where u.id = $4
        on conflict do nothing
        returning id
        ",
        Uuid::now_v7(),
        issuer,
        subject.as_str(),
        user.as_uuid(),
        address.email.map(Email::as_str),
        address.is_verified,
    )
    .fetch_optional(conn)
    .await?;
    Ok(created.map(IdentityId::from))
}

/// Notes that somebody signs in with the identity, and what the provider says about the address. None: the account is not
/// connected with it any more. Run it in a transaction that has locked the account.
pub async fn sign_in(
    conn: &mut PgConnection,
    issuer: &str,
    subject: &Subject,
    user: UserId,
    address: Address<'_>,
) -> Result<Option<IdentityId>, Error> {
    let identity = sqlx::query_scalar!(
        "
        update identities i
        set
            last_used_at = now(), email = coalesce($4, i.email),
            proven_at = coalesce(i.proven_at, case when $5 and u.email = $4 then now() end)
        from users u
        where i.issuer = $1 and i.subject = $2 and i.user_id = $3 and u.id = i.user_id
        returning i.id
        ",
        issuer,
        subject.as_str(),
        user.as_uuid(),
        address.email.map(Email::as_str),
        address.is_verified,
    )
    .fetch_optional(conn)
    .await?;
    Ok(identity.map(IdentityId::from))
}

/// Whether the issuer has called the address of the account verified, to somebody with whom the account is still connected.
pub async fn is_proven(conn: &mut PgConnection, issuer: &str, user: UserId) -> Result<bool, Error> {
    let is_proven = sqlx::query_scalar!(
        r#"
        select exists (
            select from identities where issuer = $1 and user_id = $2 and proven_at is not null
        ) as "is_proven!"
        "#,
        issuer,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(is_proven)
}

/// The identities of an account at all providers, the oldest first. `but`: without the one with which this session began.
pub async fn of_user(
    conn: &mut PgConnection,
    user: UserId,
    but: Option<SessionId>,
) -> Result<Vec<Connected>, Error> {
    let connected = sqlx::query_as!(
        Connected,
        "
        select i.id, i.issuer, i.email, i.created_at, i.last_used_at
        from identities i
        where i.user_id = $1 and not exists (select from sessions s where s.id = $2 and s.identity_id = i.id)
        order by i.created_at, i.id
        ",
        user.as_uuid(),
        but.map(SessionId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    Ok(connected)
}

/// Disconnects an identity of the account, and ends the sessions that began with it. None: the account has no such identity.
pub async fn delete(
    conn: &mut PgConnection,
    user: UserId,
    identity: IdentityId,
) -> Result<Option<u64>, Error> {
    let ended = sqlx::query!(
        "
        delete from sessions
        where
            user_id = $1 and by_provider and (identity_id = $2 or identity_id is null)
            and exists (select from identities where id = $2 and user_id = $1)
        ",
        user.as_uuid(),
        identity.as_uuid(),
    )
    .execute(&mut *conn)
    .await?;
    let deleted = sqlx::query!(
        "delete from identities where id = $1 and user_id = $2",
        identity.as_uuid(),
        user.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok((deleted.rows_affected() > 0).then_some(ended.rows_affected()))
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
