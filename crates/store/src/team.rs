//! Teams: the tenants.

use chrono::{DateTime, Utc};
use domain::{
    id::{PlanId, TeamId},
    name::Name,
    reach::Reach,
};
use serde::Serialize;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{Error, page::Page, subscription::PLAN_KEY};

/// A tenant. The audit log shows it as the management interface does.
#[derive(Clone, Debug, Serialize)]
pub struct Team {
    /// The team.
    pub id: TeamId,
    /// Its name. Two teams may have the same name.
    pub name: String,
    /// Since when it is closed for good; none before.
    #[serde(serialize_with = "domain::event::iso8601_or_null")]
    pub closed_at: Option<DateTime<Utc>>,
    /// When it was created.
    #[serde(serialize_with = "domain::event::iso8601")]
    pub created_at: DateTime<Utc>,
}

/// Creates a team that subscribes to a plan from now on; without a subscription nothing would be
/// accepted from it. Run it in a transaction.
///
/// # Errors
/// [`Error::UnknownPlan`].
pub async fn create(conn: &mut PgConnection, name: &Name, plan: PlanId) -> Result<Team, Error> {
    let id = Uuid::now_v7();
    let created_at = sqlx::query_scalar!(
        "insert into teams (id, name) values ($1, $2) returning created_at",
        id,
        name.as_str(),
    )
    .fetch_one(&mut *conn)
    .await?;
    sqlx::query!(
        "insert into subscriptions (team_id, plan_id) values ($1, $2)",
        id,
        plan.as_uuid(),
    )
    .execute(conn)
    .await
    .map_err(Error::on_violation(PLAN_KEY, Error::UnknownPlan))?;
    Ok(Team {
        id: id.into(),
        name: name.as_str().to_owned(),
        closed_at: None,
        created_at,
    })
}

/// Whether nobody has set anything up yet.
pub async fn none_exist(conn: &mut PgConnection) -> Result<bool, Error> {
    let empty = sqlx::query_scalar!(r#"select not exists (select from teams) as "empty!""#)
        .fetch_one(conn)
        .await?;
    Ok(empty)
}

/// Whether there is such a team.
pub async fn exists(conn: &mut PgConnection, team: TeamId) -> Result<bool, Error> {
    let found = sqlx::query_scalar!(
        r#"select exists (select from teams where id = $1) as "found!""#,
        team.as_uuid(),
    )
    .fetch_one(conn)
    .await?;
    Ok(found)
}

/// The team that a group or a lane of a queue belongs to: it has the id of the team, or that of one
/// of its endpoints. None if it belongs to all teams, or if its owner is gone.
pub async fn of_group_or_lane(conn: &mut PgConnection, id: Uuid) -> Result<Option<TeamId>, Error> {
    let team = sqlx::query_scalar!(
        r#"
        select t.id as "id!" from teams t where t.id = $1
        union all
        select s.team_id from webhook_endpoints e join sites s on s.id = e.site_id where e.id = $1
        limit 1
        "#,
        id,
    )
    .fetch_optional(conn)
    .await?;
    Ok(team.map(TeamId::from))
}

/// A team; none if there is no such team.
pub async fn find(conn: &mut PgConnection, team: TeamId) -> Result<Option<Team>, Error> {
    let team = sqlx::query_as!(
        Team,
        "select id, name, closed_at, created_at from teams where id = $1",
        team.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(team)
}

/// A team that nobody else changes until the transaction ends; none if there is no such team.
pub async fn lock(conn: &mut PgConnection, team: TeamId) -> Result<Option<Team>, Error> {
    let team = sqlx::query_as!(
        Team,
        "select id, name, closed_at, created_at from teams where id = $1 for no key update",
        team.as_uuid(),
    )
    .fetch_optional(conn)
    .await?;
    Ok(team)
}

/// Teams within reach, the oldest first.
pub async fn list(conn: &mut PgConnection, reach: Reach, page: Page) -> Result<Vec<Team>, Error> {
    let teams = sqlx::query_as!(
        Team,
        "
        select id, name, closed_at, created_at
        from teams
        where ($1::uuid is null or id = $1) and ($2::uuid is null or id > $2)
        order by id
        limit $3
        ",
        reach.team().map(TeamId::as_uuid),
        page.after,
        page.limit,
    )
    .fetch_all(conn)
    .await?;
    Ok(teams)
}

/// Gives a team another name.
pub async fn rename(conn: &mut PgConnection, team: TeamId, name: &Name) -> Result<(), Error> {
    sqlx::query!(
        "update teams set name = $2 where id = $1",
        team.as_uuid(),
        name.as_str(),
    )
    .execute(conn)
    .await?;
    Ok(())
}
