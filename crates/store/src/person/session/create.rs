//! Creating a session, which also deletes sessions that are over.

use chrono::{DateTime, Utc};
use domain::{
    id::{IdentityId, SessionId, UserId},
    key::SessionSecret,
    sign_in_limits::{LONGEST_SESSION, MOST_SESSIONS},
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::seconds;
use crate::Error;

/// The origin of a sign-in.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The client's address.
    pub address: &'a str,
    /// The start of the header `User-Agent`.
    pub user_agent: &'a str,
}

/// What a provider of single sign-on has proved.
#[derive(Clone, Copy, Debug)]
pub struct Proved {
    /// Who signs in there. The session ends when the account is disconnected from this identity.
    pub identity: IdentityId,
    /// When the person authenticated there, if it says so. This is as if the person had typed the password then.
    pub authenticated_at: Option<DateTime<Utc>>,
    /// Whether it checked several factors.
    pub is_strong: bool,
}

/// Creates a session, and returns its secret for the browser. Deletes sessions that are over. If
/// the person has too many sessions, one of them ends. Run it in a transaction that has locked the
/// account.
pub async fn create(
    conn: &mut PgConnection,
    user: UserId,
    origin: Origin<'_>,
) -> Result<(SessionId, SessionSecret), Error> {
    make_room(conn, user).await?;
    let secret = SessionSecret::generate(std::iter::repeat_with(rand::random));
    let hash = secret.hash();
    let id = sqlx::query_scalar!(
        "
        insert into sessions (id, user_id, hash, address, user_agent)
        values ($1, $2, $3, $4, $5)
        returning id
        ",
        Uuid::now_v7(),
        user.as_uuid(),
        hash.as_bytes(),
        origin.address,
        origin.user_agent,
    )
    .fetch_one(conn)
    .await?;
    Ok((id.into(), secret))
}

/// The same for a person whom the provider of single sign-on has authenticated. If it does not say when, it may have been
/// long ago.
pub async fn create_by_provider(
    conn: &mut PgConnection,
    user: UserId,
    origin: Origin<'_>,
    proved: Proved,
) -> Result<(SessionId, SessionSecret), Error> {
    make_room(conn, user).await?;
    let secret = SessionSecret::generate(std::iter::repeat_with(rand::random));
    let hash = secret.hash();
    let id = sqlx::query_scalar!(
        "
        insert into sessions
            (id, user_id, hash, address, user_agent, by_provider, password_at, factor_at, identity_id)
        values (
            $1, $2, $3, $4, $5, true, least(coalesce($6, now() - make_interval(secs => $8)), now()),
            case when $7 then now() end, $9
        )
        returning id
        ",
        Uuid::now_v7(),
        user.as_uuid(),
        hash.as_bytes(),
        origin.address,
        origin.user_agent,
        proved.authenticated_at,
        proved.is_strong,
        seconds(LONGEST_SESSION),
        proved.identity.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok((id.into(), secret))
}

async fn make_room(conn: &mut PgConnection, user: UserId) -> Result<(), Error> {
    forget_over(conn).await?;
    forget_oldest(conn, user).await
}

/// Deletes sessions of all people that are over, at most 100 at a time.
async fn forget_over(conn: &mut PgConnection) -> Result<(), Error> {
    sqlx::query!(
        "
        delete from sessions
        where id in (
            select id
            from sessions
            where created_at < now() - make_interval(secs => $1)
            order by created_at
            limit 100
            for update skip locked
        )
        ",
        seconds(LONGEST_SESSION),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes sessions of a person until there is room for one more. Those without the second factor
/// go first. Otherwise anyone who knows only the password could end the owner's sessions by signing
/// in again and again.
async fn forget_oldest(conn: &mut PgConnection, user: UserId) -> Result<(), Error> {
    sqlx::query!(
        "
        delete from sessions
        where id in (
            select id
            from sessions
            where user_id = $1
            order by factor_at is null, used_at desc, id desc
            offset $2
        )
        ",
        user.as_uuid(),
        MOST_SESSIONS - 1,
    )
    .execute(conn)
    .await?;
    Ok(())
}
