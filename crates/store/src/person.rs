//! People: their accounts, and their roles in teams.

mod account;
pub mod credentials;
pub mod failed_sign_in;
pub mod first_operator;
mod membership;
pub mod one_time_link;
pub mod own_account;
pub mod second_factor;
mod second_factor_requirement;
pub mod session;
pub mod sso_identity;
pub mod sso_membership;

pub use self::{
    account::{
        Account, account, create_account, create_without_password, lock_account, set_password,
    },
    membership::{
        Membership, change, count, count_all, disable, is_member, is_somebody, join, memberships,
        own_sites, teams_without,
    },
    second_factor_requirement::{needs_factor, require_factor, requires_factor},
};

use chrono::{DateTime, Utc};
use domain::{
    id::{MemberId, SiteId, TeamId, UserId},
    reach::Reach,
    role::Role,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

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
    let rows = sqlx::query_as!(
        Row,
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
    rows.into_iter().map(Person::try_from).collect()
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
