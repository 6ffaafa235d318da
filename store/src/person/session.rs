//! Sessions: people who have signed in, on one browser each.
//!
//! A session is looked up in the transaction of each request, with the membership that it acts by, as tokens are. So ending
//! it, disabling the person and changing the role take effect at once.

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::{MemberId, SessionId, SiteId, TeamId, UserId},
    key::{SecretHash, SessionSecret},
    reach::Reach,
    role::Role,
    sign_in::{IDLE, LONGEST_SESSION, MOST_SESSIONS},
};
use sqlx::{PgConnection, PgPool, PgTransaction};
use uuid::Uuid;

use crate::{Error, page::Page};

/// A session that is not over, with its account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The session.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// How long ago the password was given.
    pub password_age: TimeDelta,
    /// Whether the second factor was given.
    pub has_given_factor: bool,
    /// Whether the person has a second factor.
    pub has_factor: bool,
}

/// What a session may do in one team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entered {
    /// The session.
    pub held: Held,
    /// The membership.
    pub member: MemberId,
    /// What the person may do.
    pub role: Role,
    /// On which sites a moderator decides; none: on all.
    pub sites: Option<Vec<SiteId>>,
    /// Whether the team asks everybody for a second factor.
    pub team_requires_factor: bool,
}

/// A session as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The session.
    pub id: SessionId,
    /// Whose it is.
    pub user: UserId,
    /// The membership by which it was found; none in the person's own list.
    pub member: Option<MemberId>,
    /// The team of that; none for an operator.
    pub team: Option<TeamId>,
    /// When the person signed in.
    pub created_at: DateTime<Utc>,
    /// When it was used last, to the minute.
    pub used_at: DateTime<Utc>,
    /// From where the person signed in.
    pub address: String,
    /// With which browser.
    pub user_agent: String,
}

/// From where somebody signs in.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The client's address.
    pub address: &'a str,
    /// The header `User-Agent`, cut.
    pub user_agent: &'a str,
}

/// Creates a session; its secret is returned to be given to the browser. Ends those of the same person that are over, and the
/// one that was used the longest ago if there are too many. Run it in a transaction that has locked the account.
pub async fn create(
    conn: &mut PgConnection,
    user: UserId,
    origin: Origin<'_>,
) -> Result<(SessionId, SessionSecret), Error> {
    forget_over(conn).await?;
    forget_oldest(conn, user).await?;
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

/// Forgets sessions that are over, of anybody, some at a time.
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

async fn forget_oldest(conn: &mut PgConnection, user: UserId) -> Result<(), Error> {
    sqlx::query!(
        "
        delete from sessions
        where id in (select id from sessions where user_id = $1 order by used_at desc, id desc offset $2)
        ",
        user.as_uuid(),
        MOST_SESSIONS - 1,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Notes that a session is used, at most once a minute. A statement of its own, because what only looks cannot write.
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

/// Begins a transaction in which somebody looks at things of a team, or of the whole instance, all of them as they are at one
/// moment. None: the session is unknown or over, or the person has no part in it.
pub async fn begin_reading(
    pool: &PgPool,
    hash: SecretHash,
    team: Option<TeamId>,
) -> Result<Option<(PgTransaction<'static>, Entered)>, Error> {
    let mut tx = pool
        .begin_with("begin isolation level repeatable read, read only")
        .await?;
    let row = sqlx::query_as!(
        EnteredRow,
        r#"
        select
            s.id, s.user_id, extract(epoch from now() - s.password_at)::float8 as "password_age!",
            s.factor_at is not null as "has_given_factor!", f.confirmed_at is not null as "has_factor!",
            m.id as member_id, m.role, m.site_ids, coalesce(t.factor_required, false) as "team_requires_factor!"
        from sessions s
        join memberships m on m.user_id = s.user_id
        left join teams t on t.id = m.team_id
        left join factors f on f.user_id = s.user_id
        where
            s.hash = $1 and m.team_id is not distinct from $2 and m.disabled_at is null
            and s.used_at > now() - make_interval(secs => $3)
            and s.created_at > now() - make_interval(secs => $4)
        "#,
        hash.as_bytes(),
        team.map(TeamId::as_uuid),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_optional(&mut *tx)
    .await?;
    row.map(|row| Ok((tx, row.try_into()?))).transpose()
}

/// Begins a transaction in which somebody changes something. Who ends the session, disables the person or changes the role
/// waits until it has ended. None: as for [`begin_reading`].
pub async fn begin_changing(
    pool: &PgPool,
    hash: SecretHash,
    team: Option<TeamId>,
) -> Result<Option<(PgTransaction<'static>, Entered)>, Error> {
    let mut tx = pool.begin().await?;
    let row = sqlx::query_as!(
        EnteredRow,
        r#"
        select
            s.id, s.user_id, extract(epoch from now() - s.password_at)::float8 as "password_age!",
            s.factor_at is not null as "has_given_factor!", f.confirmed_at is not null as "has_factor!",
            m.id as member_id, m.role, m.site_ids, coalesce(t.factor_required, false) as "team_requires_factor!"
        from sessions s
        join memberships m on m.user_id = s.user_id
        left join teams t on t.id = m.team_id
        left join factors f on f.user_id = s.user_id
        where
            s.hash = $1 and m.team_id is not distinct from $2 and m.disabled_at is null
            and s.used_at > now() - make_interval(secs => $3)
            and s.created_at > now() - make_interval(secs => $4)
        for share of s, m
        "#,
        hash.as_bytes(),
        team.map(TeamId::as_uuid),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_optional(&mut *tx)
    .await?;
    row.map(|row| Ok((tx, row.try_into()?))).transpose()
}

/// Begins a transaction in which somebody changes the own account: whatever else changes that account, or this session, waits.
/// None: the session is unknown or over.
pub async fn begin_own(
    pool: &PgPool,
    hash: SecretHash,
) -> Result<Option<(PgTransaction<'static>, Held)>, Error> {
    let mut tx = pool.begin().await?;
    let row = sqlx::query_as!(
        HeldRow,
        r#"
        select
            s.id, s.user_id, extract(epoch from now() - s.password_at)::float8 as "password_age!",
            s.factor_at is not null as "has_given_factor!",
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from sessions s
        join users u on u.id = s.user_id
        where
            s.hash = $1
            and s.used_at > now() - make_interval(secs => $2)
            and s.created_at > now() - make_interval(secs => $3)
        for no key update of u, s
        "#,
        hash.as_bytes(),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_optional(&mut *tx)
    .await?;
    Ok(row.map(|row| (tx, row.into())))
}

/// Notes that the second factor was given, and gives the session another secret: what was known of it before is worth nothing.
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

/// Forgets, for all sessions of somebody, that a second factor was given.
pub async fn lower_all(conn: &mut PgConnection, user: UserId) -> Result<(), Error> {
    sqlx::query!(
        "update sessions set factor_at = null where user_id = $1",
        user.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Counts a wrong code, and says how many there were.
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

/// The sessions of somebody that are not over, the latest first.
pub async fn of_user(conn: &mut PgConnection, user: UserId) -> Result<Vec<Listed>, Error> {
    let rows = sqlx::query_as!(
        ListedRow,
        r#"
        select
            s.id, s.user_id, null::uuid as member_id, null::uuid as team_id, s.created_at, s.used_at, s.address, s.user_agent
        from sessions s
        where
            s.user_id = $1
            and s.used_at > now() - make_interval(secs => $2)
            and s.created_at > now() - make_interval(secs => $3)
        order by s.id desc
        "#,
        user.as_uuid(),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Listed::from).collect())
}

/// Sessions of people within reach, the oldest first. For a team, those of people who are in no other: where somebody signs in
/// for another team is not its business. A person with several memberships within reach is shown by the oldest one.
pub async fn list(
    conn: &mut PgConnection,
    reach: Reach,
    only: Option<SessionId>,
    page: Page,
) -> Result<Vec<Listed>, Error> {
    let rows = sqlx::query_as!(
        ListedRow,
        r#"
        select
            s.id, s.user_id, m.id as "member_id?", m.team_id, s.created_at, s.used_at, s.address, s.user_agent
        from sessions s
        cross join lateral (
            select o.id, o.team_id
            from memberships o
            where o.user_id = s.user_id and ($1::uuid is null or o.team_id = $1)
            order by o.disabled_at is not null, o.id
            limit 1
        ) m
        where
            ($2::uuid is null or s.id > $2)
            and ($4::uuid is null or s.id = $4)
            and ($1::uuid is null or not exists (
                select
                from memberships o
                where o.user_id = s.user_id and o.disabled_at is null and o.team_id is distinct from $1
            ))
            and s.used_at > now() - make_interval(secs => $5)
            and s.created_at > now() - make_interval(secs => $6)
        order by s.id
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
        only.map(SessionId::as_uuid),
        seconds(IDLE),
        seconds(LONGEST_SESSION),
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(Listed::from).collect())
}

/// Ends a session of somebody. Says whether there was one.
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

/// Ends the sessions of somebody, but for one if so wanted. Says how many.
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

pub(super) fn seconds(time: TimeDelta) -> f64 {
    time.as_seconds_f64()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "no session is older than 12 hours"
)]
fn age(seconds: f64) -> TimeDelta {
    TimeDelta::seconds(seconds as i64)
}

struct ListedRow {
    id: Uuid,
    user_id: Uuid,
    member_id: Option<Uuid>,
    team_id: Option<Uuid>,
    created_at: DateTime<Utc>,
    used_at: DateTime<Utc>,
    address: String,
    user_agent: String,
}

impl From<ListedRow> for Listed {
    fn from(row: ListedRow) -> Self {
        Self {
            id: row.id.into(),
            user: row.user_id.into(),
            member: row.member_id.map(MemberId::from),
            team: row.team_id.map(TeamId::from),
            created_at: row.created_at,
            used_at: row.used_at,
            address: row.address,
            user_agent: row.user_agent,
        }
    }
}

struct HeldRow {
    id: Uuid,
    user_id: Uuid,
    password_age: f64,
    has_given_factor: bool,
    has_factor: bool,
}

impl From<HeldRow> for Held {
    fn from(row: HeldRow) -> Self {
        Self {
            id: row.id.into(),
            user: row.user_id.into(),
            password_age: age(row.password_age),
            has_given_factor: row.has_given_factor,
            has_factor: row.has_factor,
        }
    }
}

struct EnteredRow {
    id: Uuid,
    user_id: Uuid,
    password_age: f64,
    has_given_factor: bool,
    has_factor: bool,
    member_id: Uuid,
    role: String,
    site_ids: Option<Vec<Uuid>>,
    team_requires_factor: bool,
}

impl TryFrom<EnteredRow> for Entered {
    type Error = Error;

    fn try_from(row: EnteredRow) -> Result<Self, Error> {
        Ok(Self {
            held: Held {
                id: row.id.into(),
                user: row.user_id.into(),
                password_age: age(row.password_age),
                has_given_factor: row.has_given_factor,
                has_factor: row.has_factor,
            },
            member: row.member_id.into(),
            role: row.role.parse()?,
            sites: row
                .site_ids
                .map(|sites| sites.into_iter().map(SiteId::from).collect()),
            team_requires_factor: row.team_requires_factor,
        })
    }
}
