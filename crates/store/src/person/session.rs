//! Sessions: people who have signed in, on one browser each.
//!
//! Like a token, a session is looked up in the transaction of each request, together with its
//! membership. So ending it, disabling the person and changing the role take effect at once.

mod begin;

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};
use domain::{
    id::{MemberId, SessionId, TeamId, UserId},
    key::SessionSecret,
    reach::Reach,
    sign_in_limits::{IDLE, LONGEST_SESSION},
};
use sqlx::PgConnection;
use uuid::Uuid;

pub use self::begin::{
    Entered, Held, Origin, Proved, begin_changing, begin_own, begin_reading, create,
    create_by_provider, touch,
};
use crate::{Error, page::Page};

pub(super) fn seconds(time: TimeDelta) -> f64 {
    time.as_seconds_f64()
}

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

/// A session as its owner sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The session.
    pub id: SessionId,
    /// Its person.
    pub user: UserId,
    /// The membership by which it was found. None in the person's own list.
    pub member: Option<MemberId>,
    /// The team of this membership; none for an operator.
    pub team: Option<TeamId>,
    /// When the person signed in.
    pub created_at: DateTime<Utc>,
    /// When it was used last, to the minute.
    pub used_at: DateTime<Utc>,
    /// The address from which the person signed in.
    pub address: String,
    /// The browser, as it names itself.
    pub user_agent: String,
}

/// The sessions of a person that are not over, the latest first.
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

/// Sessions of people within reach, the oldest first. A team sees only those of people who are in
/// no other team, because sign-ins for another team are not its business. A person with several
/// memberships within reach is shown with the oldest one.
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

/// When these people used a session last, as far as it is not forgotten yet. A team sees it only of people who are in no
/// other team.
pub async fn last_used(
    conn: &mut PgConnection,
    reach: Reach,
    members: &[MemberId],
) -> Result<HashMap<MemberId, DateTime<Utc>>, Error> {
    let members: Vec<Uuid> = members.iter().map(|member| member.as_uuid()).collect();
    let rows = sqlx::query!(
        r#"
        select m.id, max(s.used_at) as "used_at!"
        from memberships m
        join sessions s on s.user_id = m.user_id
        where
            m.id = any($1)
            and ($2::uuid is null or m.team_id = $2)
            and ($2::uuid is null or not exists (
                select
                from memberships o
                where o.user_id = m.user_id and o.disabled_at is null and o.team_id is distinct from $2
            ))
        group by m.id
        "#,
        &members,
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (row.id.into(), row.used_at))
        .collect())
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
