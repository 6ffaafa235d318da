//! The team itself, and what dates its parts back.

use chrono::{DateTime, Utc};
use domain::{
    actor::Actor,
    audit::Action,
    email::Email,
    id::{EndpointId, MemberId, TeamId, UserId},
    name::Name,
    role::Role,
};
use serde_json::json;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{INCOMPLETE, MODERATOR, NAME, TEAM};
use crate::{
    Error,
    audit::{self, Entry},
    person, plan,
};

/// The team that was begun.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    /// Its moderator.
    pub moderator: MemberId,
}

/// Creates the team, its subscription and its moderator, as of `since`. Those who run the instance become its owners. The team is incomplete until [`finish`]. Run it in a
/// transaction.
///
/// # Errors
/// The team exists, or somebody has the moderator's address.
pub async fn begin(
    conn: &mut PgConnection,
    since: DateTime<Utc>,
    (name, password_hash): (&Name, &str),
) -> Result<Begun, Error> {
    sqlx::query("insert into teams (id, name, created_at) values ($1, $2, $3)")
        .bind(TEAM.as_uuid())
        .bind(INCOMPLETE)
        .bind(since)
        .execute(&mut *conn)
        .await?;
    sqlx::query("insert into subscriptions (team_id, plan_id, started_at) values ($1, $2, $3)")
        .bind(TEAM.as_uuid())
        .bind(plan::UNLIMITED.as_uuid())
        .bind(since)
        .execute(&mut *conn)
        .await?;
    let email: Email = MODERATOR.parse().map_err(|_| Error::Unavailable)?;
    let user = person::create_account(conn, &email, name, password_hash).await?;
    let user = user.ok_or_else(|| Error::Unreadable(format!("{email} has an account")))?;
    let moderator = person::join(conn, user, Some(TEAM), Role::Lead, None).await?;
    let mut owners = Vec::new();
    for user in operators(conn).await? {
        owners.push(person::join(conn, user, Some(TEAM), Role::Owner, None).await?);
    }
    let entry = Entry {
        actor: Actor::CommandLine,
        action: Action::TeamCreate,
        team: Some(TEAM),
        target: Some(TEAM.as_uuid()),
        details: &json!({ "created": { "id": TEAM, "name": NAME }, "plan_id": plan::UNLIMITED, "owners": owners }),
        request_id: None,
    };
    audit::record(conn, entry).await?;
    Ok(Begun { moderator })
}

/// Those who run the instance, ten at most.
async fn operators(conn: &mut PgConnection) -> Result<Vec<UserId>, Error> {
    let users: Vec<Uuid> = sqlx::query_scalar(
        "select user_id from memberships where team_id is null and disabled_at is null order by id limit 10",
    )
    .fetch_all(conn)
    .await?;
    Ok(users.into_iter().map(UserId::from).collect())
}

/// Dates the parts of the team back to `since`, says since when an endpoint fails, and calls the team complete. Run it in a
/// transaction.
pub async fn finish(
    conn: &mut PgConnection,
    since: DateTime<Utc>,
    (failing, failing_since): (EndpointId, DateTime<Utc>),
) -> Result<(), Error> {
    for statement in [
        "update sites set created_at = $2 where team_id = $1",
        "update rule_groups set created_at = $2 where team_id = $1",
        "update rule_group_versions set created_at = $2 where rule_group_id in (select id from rule_groups where team_id = $1)",
        "update rule_group_publications set published_at = $2
         where rule_group_id in (select id from rule_groups where team_id = $1)",
        "update webhook_endpoints set created_at = $2 where site_id in (select id from sites where team_id = $1)",
        "update memberships set created_at = $2 where team_id = $1 and role <> 'owner'",
    ] {
        sqlx::query(statement)
            .bind(TEAM.as_uuid())
            .bind(since)
            .execute(&mut *conn)
            .await?;
    }
    // Its breaker has opened a few times. The last pause is over.
    sqlx::query(
        "
        insert into webhook_endpoint_states (endpoint_id, failing_since, failures, openings, open_until)
        values ($1, $2, 64, 9, now())
        ",
    )
    .bind(failing.as_uuid())
    .bind(failing_since)
    .execute(&mut *conn)
    .await?;
    rename(conn, TEAM, NAME).await
}

/// Marks the team as incomplete, so that the next start finishes it.
pub(super) async fn mark(conn: &mut PgConnection) -> Result<(), Error> {
    rename(conn, TEAM, INCOMPLETE).await
}

async fn rename(conn: &mut PgConnection, team: TeamId, name: &str) -> Result<(), Error> {
    sqlx::query("update teams set name = $2 where id = $1")
        .bind(team.as_uuid())
        .bind(name)
        .execute(conn)
        .await?;
    Ok(())
}
