//! People: their accounts, and their roles in teams.

pub mod credentials;
pub mod failed_sign_in;
pub mod first_operator;
mod membership;
pub mod one_time_link;
pub mod own_account;
pub mod second_factor;
pub mod session;
pub mod sso_identity;
pub mod sso_membership;

use std::fmt;

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

pub use self::membership::{
    Membership, change, count, count_all, disable, is_member, is_somebody, join, memberships,
    own_sites, teams_without,
};
use crate::{Error, page::Page};

/// A person in a team, or an operator. The audit log shows it as the management interface does.
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
    /// The e-mail address, with which the person signs in.
    pub email: String,
    /// The person's name.
    pub name: String,
    /// The role in the team.
    pub role: Role,
    /// The sites on which a moderator decides. None: all sites.
    #[serde(rename = "site_ids")]
    pub sites: Option<Vec<SiteId>>,
    /// Whether the person has a second factor.
    pub has_factor: bool,
    /// When the person joined.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
    /// When the person was disabled; none if the person is not.
    #[serde(skip)]
    pub disabled_at: Option<DateTime<Utc>>,
}

/// A person; none if there is no such person within reach.
pub async fn find(
    conn: &mut PgConnection,
    reach: Reach,
    member: MemberId,
) -> Result<Option<Person>, Error> {
    Ok(people(conn, reach, Some(member), Page::ONE).await?.pop())
}

/// A person whom nobody else changes until the transaction ends; none if there is no such person
/// within reach.
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
        // Read only now, so that it includes whatever the lock waited for.
        Some(_) => find(conn, reach, member).await,
        None => Ok(None),
    }
}

/// People within reach, including disabled ones. Those who joined first come first.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Person>, Error> {
    people(conn, reach, None, page).await
}

async fn people(
    conn: &mut PgConnection,
    reach: Reach,
    only: Option<MemberId>,
    page: Page,
) -> Result<Vec<Person>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            m.id, m.user_id, m.team_id, u.email, u.name, m.role, m.site_ids, m.created_at, m.disabled_at,
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from memberships m
        join users u on u.id = m.user_id
        where
            ($1::uuid is null or m.team_id = $1) and ($2::uuid is null or m.id > $2)
            and ($4::uuid is null or m.id = $4)
        order by m.id
        limit $3
        "#,
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
        only.map(MemberId::as_uuid),
    )
    .fetch_all(conn)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Person {
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
        })
        .collect()
}

fn uuids(sites: Option<&[SiteId]>) -> Option<Vec<Uuid>> {
    sites.map(|sites| sites.iter().map(|site| site.as_uuid()).collect())
}

/// The account of a person.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// The account.
    pub user: UserId,
    /// The e-mail address, with which the person signs in.
    pub email: String,
    /// The person's name.
    pub name: String,
    /// The Argon2id hash of the password, as a PHC string.
    pub password_hash: String,
    /// Whether somebody knows a password for it. If not, the person signs in with the provider of single sign-on only.
    pub has_password: bool,
    /// Whether the person has a second factor.
    pub has_factor: bool,
}

impl fmt::Debug for Account {
    /// Without the hash of the password, which could be guessed from it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account")
            .field("user", &self.user)
            .field("has_factor", &self.has_factor)
            .finish_non_exhaustive()
    }
}

/// The account with this address, if there is one.
pub async fn account(conn: &mut PgConnection, email: &Email) -> Result<Option<Account>, Error> {
    let account = sqlx::query_as!(
        Account,
        r#"
        select
            u.id as user, u.email, u.name, u.password_hash, u.has_password,
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

/// An account that nobody else changes until the transaction ends. Sign-ins with an older password
/// wait for it.
pub async fn lock_account(conn: &mut PgConnection, user: UserId) -> Result<Account, Error> {
    sqlx::query_scalar!(
        "select id from users where id = $1 for no key update",
        user.as_uuid(),
    )
    .fetch_one(&mut *conn)
    .await?;
    // Read only now, so that it includes whatever the lock waited for.
    let account = sqlx::query_as!(
        Account,
        r#"
        select
            u.id as user, u.email, u.name, u.password_hash, u.has_password,
            exists (select from factors f where f.user_id = u.id and f.confirmed_at is not null) as "has_factor!"
        from users u
        where u.id = $1
        "#,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(account)
}

/// Creates an account. None: there is one with this address already.
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

/// Creates an account without a password, whose hash is that of a text that nobody knows. None: there is one with this
/// address already.
pub async fn create_without_password(
    conn: &mut PgConnection,
    email: &Email,
    name: &Name,
    password_hash: &str,
) -> Result<Option<UserId>, Error> {
    let created = sqlx::query_scalar!(
        "
        insert into users (id, email, name, password_hash, has_password)
        values ($1, $2, $3, $4, false)
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
        "update users set password_hash = $2, has_password = true, password_changed_at = now() where id = $1",
        user.as_uuid(),
        password_hash,
    )
    .execute(conn)
    .await?;
    Ok(())
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

/// Whether a person needs a second factor because of any of the roles or teams.
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
