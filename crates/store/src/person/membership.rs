//! Memberships: the role of a person in a team, or as an operator.

use domain::{
    email::Email,
    id::{MemberId, SiteId, TeamId, UserId},
    role::Role,
};
use sqlx::PgConnection;
use uuid::Uuid;

use super::uuids;
use crate::Error;

/// The role of a person in one team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The membership.
    pub id: MemberId,
    /// The team; none for an operator.
    pub team: Option<TeamId>,
    /// The role.
    pub role: Role,
}

/// Whether a person is in a team, or is an operator.
pub async fn is_somebody(conn: &mut PgConnection, user: UserId) -> Result<bool, Error> {
    let is_somebody = sqlx::query_scalar!(
        r#"
        select exists (
            select from memberships where user_id = $1 and disabled_at is null
        ) as "is!"
        "#,
        user.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(is_somebody)
}

/// The memberships of a person that are not disabled.
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

/// Makes a person a member of a team, or an operator. A former member returns under the same id.
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
        do update set role = $4, site_ids = $5, disabled_at = null, by_provider = false
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

/// Whether the person with this address is in the team, or is an operator, and is not disabled.
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

/// Gives a member another role and other sites. From now on they are given by hand.
pub async fn change(
    conn: &mut PgConnection,
    member: MemberId,
    role: Role,
    sites: Option<&[SiteId]>,
) -> Result<(), Error> {
    let sites = uuids(sites);
    sqlx::query!(
        "update memberships set role = $2, site_ids = $3, by_provider = false where id = $1",
        member.as_uuid(),
        role.as_str(),
        sites.as_deref(),
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Disables a membership, after waiting for the requests that act by it at this moment. The provider
/// of single sign-on does not enable it again. Tells whether it was enabled before.
pub async fn disable(conn: &mut PgConnection, member: MemberId) -> Result<bool, Error> {
    let disabled = sqlx::query!(
        "update memberships set disabled_at = now(), by_provider = false where id = $1 and disabled_at is null",
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

/// Those of these teams in which nobody has this role.
pub async fn teams_without(
    conn: &mut PgConnection,
    teams: &[TeamId],
    role: Role,
) -> Result<Vec<TeamId>, Error> {
    let teams: Vec<Uuid> = teams.iter().map(|team| team.as_uuid()).collect();
    let without = sqlx::query_scalar!(
        r#"
        select t.id as "id!"
        from unnest($1::uuid []) with ordinality as t (id, place)
        where not exists (select from memberships m where m.team_id = t.id and m.role = $2 and m.disabled_at is null)
        order by t.place
        "#,
        &teams,
        role.as_str(),
    )
    .fetch_all(conn)
    .await?;
    Ok(without.into_iter().map(TeamId::from).collect())
}

/// How many people a team has, including open invitations. Disabled people count, too, because
/// their rows stay.
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

/// Those of these sites that belong to the team.
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
