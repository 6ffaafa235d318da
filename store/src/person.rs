//! People: their accounts, and what each is in a team.

pub mod factor;
pub mod failure;
pub mod link;
pub mod session;

use chrono::{DateTime, Utc};
use domain::{
    email::Email,
    id::{MemberId, SiteId, TeamId, UserId},
    name::Name,
    reach::Reach,
    role::Role,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, page::Page};

/// Somebody in a team, or an operator. The audit log shows it as the management interface does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Person {
    /// The membership, which is the actor of what the person does.
    pub id: MemberId,
    /// The account. The same person may be in several teams.
    #[serde(skip)]
    pub user: UserId,
    /// The team; none for an operator.
    #[serde(rename = "team_id")]
    pub team: Option<TeamId>,
    /// By what the person signs in.
    pub email: String,
    /// What the person is called.
    pub name: String,
    /// What the person may do.
    pub role: Role,
    /// On which sites a moderator decides; none: on all.
    #[serde(rename = "site_ids")]
    pub sites: Option<Vec<SiteId>>,
    /// Whether the person has a second factor.
    pub has_factor: bool,
    /// When the person joined.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// When the person was disabled, if so.
    #[serde(skip)]
    pub disabled_at: Option<DateTime<Utc>>,
}

/// Somebody who can sign in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The account.
    pub user: UserId,
    /// By what the person signs in.
    pub email: String,
    /// What the person is called.
    pub name: String,
    /// Argon2id, as a PHC string.
    pub password_hash: String,
    /// Whether the person has a second factor.
    pub has_factor: bool,
}

/// What somebody is in one team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The membership.
    pub id: MemberId,
    /// The team; none for an operator.
    pub team: Option<TeamId>,
    /// What the person may do.
    pub role: Role,
}

/// The account with this address, if there is one.
pub async fn account(conn: &mut PgConnection, email: &Email) -> Result<Option<Account>, Error> {
    let account = sqlx::query_as!(
        Account,
        r#"
        select
            u.id as user, u.email, u.name, u.password_hash,
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from users u
        where u.email = $1
        "#,
        email.as_str(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(account)
}

/// An account that nobody else changes until the transaction ends. Sign-ins with an older password wait for it.
pub async fn lock_account(conn: &mut PgConnection, user: UserId) -> Result<Account, Error> {
    let account = sqlx::query_as!(
        Account,
        r#"
        select
            u.id as user, u.email, u.name, u.password_hash,
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from users u
        where u.id = $1
        for no key update
        "#,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(account)
}

/// Creates an account; none if there is one with this address.
pub async fn create_account(
    conn: &mut PgConnection,
    email: &Email,
    name: &Name,
    password_hash: &str,
) -> Result<Option<UserId>, Error> {
    let created = sqlx::query_scalar!(
        "
        insert into users (id, email, name, password_hash)
        values ($1, $2, $3, $4)
        on conflict on constraint users_email_key do nothing
        returning id
        ",
        Uuid::now_v7(),
        email.as_str(),
        name.as_str(),
        password_hash,
    )
    .fetch_optional(conn)
    .await?;
    Ok(created.map(UserId::from))
}

/// Gives an account another password.
pub async fn set_password(
    conn: &mut PgConnection,
    user: UserId,
    password_hash: &str,
) -> Result<(), Error> {
    sqlx::query!(
        "update users set password_hash = $2, password_changed_at = now() where id = $1",
        user.as_uuid(),
        password_hash,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// What somebody is, team by team. Disabled memberships are left out.
pub async fn memberships(conn: &mut PgConnection, user: UserId) -> Result<Vec<Membership>, Error> {
    let rows = sqlx::query!(
        "select id, team_id, role from memberships where user_id = $1 and disabled_at is null order by id",
        user.as_uuid(),
    )
    .fetch_all(conn)
    .await?;
    let memberships = rows.into_iter().map(|row| {
        Ok(Membership {
            id: row.id.into(),
            team: row.team_id.map(TeamId::from),
            role: row.role.parse()?,
        })
    });
    memberships.collect()
}

/// Makes somebody a member of a team, or an operator. Who was one before becomes one again, under the same id.
pub async fn join(
    conn: &mut PgConnection,
    user: UserId,
    team: Option<TeamId>,
    role: Role,
    sites: Option<&[SiteId]>,
) -> Result<MemberId, Error> {
    let sites = uuids(sites);
    let id = sqlx::query_scalar!(
        "
        insert into memberships (id, user_id, team_id, role, site_ids)
        values ($1, $2, $3, $4, $5)
        on conflict on constraint memberships_user_id_key
        do update set role = $4, site_ids = $5, disabled_at = null
        returning id
        ",
        Uuid::now_v7(),
        user.as_uuid(),
        team.map(TeamId::as_uuid),
        role.as_str(),
        sites.as_deref(),
    )
    .fetch_one(conn)
    .await?;
    Ok(id.into())
}

/// Somebody; none if there is nobody within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    member: MemberId,
) -> Result<Option<Person>, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            m.id, m.user_id, m.team_id, u.email, u.name, m.role, m.site_ids, m.created_at, m.disabled_at,
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from memberships m
        join users u on u.id = m.user_id
        where m.id = $1 and ($2::uuid is null or m.team_id = $2)
        "#,
        member.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(conn)
    .await?;
    row.map(Person::try_from).transpose()
}

/// Somebody whom nobody else changes until the transaction ends; none if there is nobody within reach.
pub async fn lock(
    conn: &mut PgConnection,
    reach: Reach,
    member: MemberId,
) -> Result<Option<Person>, Error> {
    let locked = sqlx::query_scalar!(
        "select id from memberships where id = $1 and ($2::uuid is null or team_id = $2) for no key update",
        member.as_uuid(),
        reach.team().map(TeamId::as_uuid),
    )
    .fetch_optional(&mut *conn)
    .await?;
    match locked {
        // Read only now: what was waited for is seen.
        Some(_) => find(conn, reach, member).await,
        None => Ok(None),
    }
}

/// People within reach, those who joined first at the beginning, disabled ones included.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Person>, Error> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select
            m.id, m.user_id, m.team_id, u.email, u.name, m.role, m.site_ids, m.created_at, m.disabled_at,
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from memberships m
        join users u on u.id = m.user_id
        where ($1::uuid is null or m.team_id = $1) and ($2::uuid is null or m.id > $2)
        order by m.id
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(Person::try_from).collect()
}

/// Whether somebody with this address is in the team, or is an operator, and not disabled.
pub async fn is_member(
    conn: &mut PgConnection,
    team: Option<TeamId>,
    email: &Email,
) -> Result<bool, Error> {
    let is_member = sqlx::query_scalar!(
        r#"
        select exists (
            select
            from memberships m
            join users u on u.id = m.user_id
            where u.email = $2 and m.team_id is not distinct from $1 and m.disabled_at is null
        ) as "is!"
        "#,
        team.map(TeamId::as_uuid),
        email.as_str(),
    )
    .fetch_one(conn)
    .await?;
    Ok(is_member)
}

/// Gives somebody another role and other sites.
pub async fn change(
    conn: &mut PgConnection,
    member: MemberId,
    role: Role,
    sites: Option<&[SiteId]>,
) -> Result<(), Error> {
    let sites = uuids(sites);
    sqlx::query!(
        "update memberships set role = $2, site_ids = $3 where id = $1",
        member.as_uuid(),
        role.as_str(),
        sites.as_deref(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Disables a membership. Says whether it was not disabled before. Whoever acts by it at this moment is waited for.
pub async fn disable(conn: &mut PgConnection, member: MemberId) -> Result<bool, Error> {
    let disabled = sqlx::query!(
        "update memberships set disabled_at = now() where id = $1 and disabled_at is null",
        member.as_uuid(),
    )
    .execute(conn)
    .await?;
    Ok(disabled.rows_affected() > 0)
}

/// How many people have this role in the team, or on the instance, and are not disabled.
pub async fn count(
    conn: &mut PgConnection,
    team: Option<TeamId>,
    role: Role,
) -> Result<i64, Error> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!"
        from memberships
        where team_id is not distinct from $1 and role = $2 and disabled_at is null
        "#,
        team.map(TeamId::as_uuid),
        role.as_str(),
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// How many people a team has, open invitations included, and disabled people, too: their rows stay.
pub async fn count_all(conn: &mut PgConnection, team: Option<TeamId>) -> Result<i64, Error> {
    let count = sqlx::query_scalar!(
        r#"
        select
            (select count(*) from memberships where team_id is not distinct from $1)
            + (
                select count(*)
                from links
                where
                    kind = 'invitation' and team_id is not distinct from $1 and used_at is null and cancelled_at is null
                    and expires_at > now()
            ) as "count!"
        "#,
        team.map(TeamId::as_uuid),
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// Those of these sites that are the team's.
pub async fn own_sites(
    conn: &mut PgConnection,
    team: TeamId,
    sites: &[SiteId],
) -> Result<Vec<SiteId>, Error> {
    let sites: Vec<Uuid> = sites.iter().map(|site| site.as_uuid()).collect();
    let own = sqlx::query_scalar!(
        "select id from sites where team_id = $1 and id = any($2)",
        team.as_uuid(),
        &sites,
    )
    .fetch_all(conn)
    .await?;
    Ok(own.into_iter().map(SiteId::from).collect())
}

/// Whether everybody in the team must have a second factor.
pub async fn requires_factor(conn: &mut PgConnection, team: TeamId) -> Result<bool, Error> {
    let required = sqlx::query_scalar!(
        "select factor_required from teams where id = $1",
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(required)
}

/// Whether somebody is anything that needs a second factor.
pub async fn needs_factor(conn: &mut PgConnection, user: UserId) -> Result<bool, Error> {
    let roles: Vec<&str> = Role::ALL
        .iter()
        .filter(|role| role.requires_factor())
        .map(|role| role.as_str())
        .collect();
    let needs = sqlx::query_scalar!(
        r#"
        select exists (
            select
            from memberships m
            left join teams t on t.id = m.team_id
            where m.user_id = $1 and m.disabled_at is null and (m.role = any($2) or t.factor_required)
        ) as "needs!"
        "#,
        user.as_uuid(),
        &roles as &[&str],
    )
    .fetch_one(conn)
    .await?;
    Ok(needs)
}

/// Changes whether everybody in the team must have a second factor.
pub async fn require_factor(
    conn: &mut PgConnection,
    team: TeamId,
    required: bool,
) -> Result<(), Error> {
    sqlx::query!(
        "update teams set factor_required = $2 where id = $1",
        team.as_uuid(),
        required,
    )
    .execute(conn)
    .await?;
    Ok(())
}

fn uuids(sites: Option<&[SiteId]>) -> Option<Vec<Uuid>> {
    sites.map(|sites| sites.iter().map(|site| site.as_uuid()).collect())
}

struct Row {
    id: Uuid,
    user_id: Uuid,
    team_id: Option<Uuid>,
    email: String,
    name: String,
    role: String,
    site_ids: Option<Vec<Uuid>>,
    has_factor: bool,
    created_at: DateTime<Utc>,
    disabled_at: Option<DateTime<Utc>>,
}

impl TryFrom<Row> for Person {
    type Error = Error;

    fn try_from(row: Row) -> Result<Self, Error> {
        Ok(Self {
            id: row.id.into(),
            user: row.user_id.into(),
            team: row.team_id.map(TeamId::from),
            email: row.email,
            name: row.name,
            role: row.role.parse()?,
            sites: row
                .site_ids
                .map(|sites| sites.into_iter().map(SiteId::from).collect()),
            has_factor: row.has_factor,
            created_at: row.created_at,
            disabled_at: row.disabled_at,
        })
    }
}
