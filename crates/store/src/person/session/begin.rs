//! Creating a session, which also deletes sessions that are over, and the first step of each request:
//! look up the session, and what it may do.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::{IdentityId, MemberId, SessionId, SiteId, TeamId, UserId},
    key::{SecretHash, SessionSecret},
    role::Role,
    sign_in_limits::{IDLE, LONGEST_SESSION, MOST_SESSIONS},
};
use sqlx::{PgConnection, PgPool, PgTransaction};
use uuid::Uuid;

use super::seconds;
use crate::Error;

/// A session that is not over, with its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The session.
    pub id: SessionId,
    /// Its person.
    pub user: UserId,
    /// The time since the password was given.
    pub password_age: TimeDelta,
    /// Whether the second factor was given.
    pub has_given_factor: bool,
    /// Whether the person has a second factor.
    pub has_factor: bool,
    /// Whether the person signed in with the provider of single sign-on.
    pub by_provider: bool,
}

/// A session in one team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The session.
    pub held: Held,
    /// The membership.
    pub member: MemberId,
    /// The role.
    pub role: Role,
    /// The sites on which a moderator decides. None: all sites.
    pub sites: Option<Vec<SiteId>>,
    /// Whether the team requires a second factor of everybody.
    pub team_requires_factor: bool,
    /// Whether the team is closed, so that little can be changed in it.
    pub team_is_closed: bool,
    /// Whether [`touch`] has something to note.
    pub is_untouched: bool,
}

/// Notes that a session is used, at most once a minute. It is a separate statement, because
/// transactions that only read cannot write.
pub async fn touch(pool: &PgPool, hash: SecretHash) -> Result<(), Error> {
    sqlx::query!(
        "
        update sessions
        set used_at = now()
        where
            hash = $1
            and used_at < now() - interval '1 minute'
            and used_at > now() - make_interval(secs => $2)
            and created_at > now() - make_interval(secs => $3)
        ",
        hash.as_bytes(),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Begins a transaction in which a person looks at things of a team, or of the whole instance, all
/// of them as they are at one moment. None: the session is unknown or over, or the person has no
/// part in it.
pub async fn begin_reading(
    pool: &PgPool,
    hash: SecretHash,
    team: Option<TeamId>,
) -> Result<Option<(PgTransaction<'static>, Entered)>, Error> {
    let mut tx = pool
        .begin_with("begin isolation level repeatable read, read only")
        .await?;
    let entered = entered(&mut tx, hash, team).await?;
    Ok(entered.map(|entered| (tx, entered)))
}

/// Begins a transaction in which a person changes something. Ending the session, disabling the
/// person and changing the role wait until it has ended. None: as for [`begin_reading`].
pub async fn begin_changing(
    pool: &PgPool,
    hash: SecretHash,
    team: Option<TeamId>,
) -> Result<Option<(PgTransaction<'static>, Entered)>, Error> {
    let mut tx = pool.begin().await?;
    sqlx::query_scalar!(
        "
        select s.id
        from sessions s
        join memberships m on m.user_id = s.user_id
        where s.hash = $1 and m.team_id is not distinct from $2
        for share of s, m
        ",
        hash.as_bytes(),
        team.map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *tx)
    .await?;
    // Read only now, so that it includes whatever the lock waited for.
    let entered = entered(&mut tx, hash, team).await?;
    Ok(entered.map(|entered| (tx, entered)))
}

async fn entered(
    conn: &mut PgConnection,
    hash: SecretHash,
    team: Option<TeamId>,
) -> Result<Option<Entered>, Error> {
    let row = sqlx::query!(
        r#"
        select
            s.id, s.user_id, extract(epoch from now() - s.password_at)::float8 as "password_age!",
            s.factor_at is not null as "has_given_factor!", f.confirmed_at is not null as "has_factor!",
            s.by_provider, m.id as member_id, m.role, m.site_ids, coalesce(t.factor_required, false) as "team_requires_factor!",
            t.closed_at is not null as "team_is_closed!", s.used_at < now() - interval '1 minute' as "is_untouched!"
        from sessions s
        join memberships m on m.user_id = s.user_id
        left join teams t on t.id = m.team_id
        left join factors f on f.user_id = s.user_id
        where
            s.hash = $1 and m.team_id is not distinct from $2 and m.disabled_at is null
            and (s.by_provider or not m.by_provider)
            and s.used_at > now() - make_interval(secs => $3)
            and s.created_at > now() - make_interval(secs => $4)
        "#,
        hash.as_bytes(),
        team.map(TeamId::as_uuid),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_optional(conn)
    .await?;
    row.map(|row| {
        Ok(Entered {
            held: Held {
                id: row.id.into(),
                user: row.user_id.into(),
                password_age: age(row.password_age),
                has_given_factor: row.has_given_factor,
                has_factor: row.has_factor,
                by_provider: row.by_provider,
            },
            member: row.member_id.into(),
            role: row.role.parse()?,
            sites: row
                .site_ids
                .map(|sites| sites.into_iter().map(SiteId::from).collect()),
            team_requires_factor: row.team_requires_factor,
            team_is_closed: row.team_is_closed,
            is_untouched: row.is_untouched,
        })
    })
    .transpose()
}

/// Begins a transaction in which a person changes the own account. All other changes of that
/// account, or of this session, wait. None: the session is unknown or over.
pub async fn begin_own(
    pool: &PgPool,
    hash: SecretHash,
) -> Result<Option<(PgTransaction<'static>, Held)>, Error> {
    let mut tx = pool.begin().await?;
    sqlx::query_scalar!(
        "
        select s.id
        from sessions s
        join users u on u.id = s.user_id
        where s.hash = $1
        for no key update of u, s
        ",
        hash.as_bytes(),
    )
    .fetch_optional(&mut *tx)
    .await?;
    // Read only now, so that it includes whatever the lock waited for.
    let row = sqlx::query!(
        r#"
        select
            s.id, s.user_id, extract(epoch from now() - s.password_at)::float8 as "password_age!",
            s.factor_at is not null as "has_given_factor!", f.confirmed_at is not null as "has_factor!",
            s.by_provider
        from sessions s
        left join factors f on f.user_id = s.user_id
        where
            s.hash = $1
            and s.used_at > now() - make_interval(secs => $2)
            and s.created_at > now() - make_interval(secs => $3)
        "#,
        hash.as_bytes(),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_optional(&mut *tx)
    .await?;
    Ok(row.map(|row| {
        let held = Held {
            id: row.id.into(),
            user: row.user_id.into(),
            password_age: age(row.password_age),
            has_given_factor: row.has_given_factor,
            has_factor: row.has_factor,
            by_provider: row.by_provider,
        };
        (tx, held)
    }))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "no session is older than 12 hours"
)]
fn age(seconds: f64) -> TimeDelta {
    TimeDelta::seconds(seconds as i64)
}

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
