//! Example data: a team with invented history, which `gatehouse up --demo-data` creates and `gatehouse admin remove-example-data`
//! removes. Its id is fixed, so neither command can take another team for it.

mod items;
mod remove;

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
use sqlx::{PgConnection, PgPool, pool::PoolConnection, postgres::Postgres};
use uuid::Uuid;

pub use self::{
    items::{Analysis, Attempt, Batch, Delivery, Event, Item, Verdict, add},
    remove::{Removed, remove},
};
use crate::{
    Error,
    audit::{self, Entry},
    person, plan,
};

/// The team. No other team gets this id: all others are made from the time and chance.
pub const TEAM: TeamId =
    TeamId::from_uuid(Uuid::from_u128(0x0199_0000_0000_7000_8000_0000_00e8_a1e5));

/// Its name.
pub const NAME: &str = "Example data";

/// The address of its moderator, who cannot sign in. Nobody can have a mailbox under `.invalid`.
pub const MODERATOR: &str = "mia@example-data.invalid";

/// Its name while it is being created or removed.
const INCOMPLETE: &str = "Example data (incomplete)";

/// Chosen once: "example" in ASCII.
const LOCK: i64 = 0x0065_7861_6d70_6c65;

/// How much of the example data there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    Absent,
    /// Creating or removing it was interrupted.
    Incomplete,
    /// All of it.
    Complete,
}

/// How much of the example data there is.
pub async fn state(conn: &mut PgConnection) -> Result<State, Error> {
    let name: Option<String> = sqlx::query_scalar("select name from teams where id = $1")
        .bind(TEAM.as_uuid())
        .fetch_optional(conn)
        .await?;
    Ok(match name.as_deref() {
        None => State::Absent,
        Some(INCOMPLETE) => State::Incomplete,
        Some(_) => State::Complete,
    })
}

/// The name of a team that is neither the example nor this one; none if there is no other team.
pub async fn other_team(
    conn: &mut PgConnection,
    demo: Option<TeamId>,
) -> Result<Option<String>, Error> {
    let name = sqlx::query_scalar(
        "select name from teams where id <> $1 and id is distinct from $2 order by id limit 1",
    )
    .bind(TEAM.as_uuid())
    .bind(demo.map(TeamId::as_uuid))
    .fetch_optional(conn)
    .await?;
    Ok(name)
}

/// Whether the team exists, and has no owner.
pub async fn wants_owner(conn: &mut PgConnection) -> Result<bool, Error> {
    let wants = sqlx::query_scalar(
        "
        select exists (select from teams where id = $1) and not exists (
            select from memberships where team_id = $1 and role = 'owner' and disabled_at is null
        )
        ",
    )
    .bind(TEAM.as_uuid())
    .fetch_one(conn)
    .await?;
    Ok(wants)
}

/// The right to create or remove the example data, which one process has at a time. It ends with [`Turn::end`], or when
/// the pool is closed.
#[derive(Debug)]
pub struct Turn(PoolConnection<Postgres>);

impl Turn {
    /// Takes it; none if another process has it.
    pub async fn take(pool: &PgPool) -> Result<Option<Self>, Error> {
        let mut conn = pool.acquire().await?;
        let is_mine: bool = sqlx::query_scalar("select pg_try_advisory_lock($1)")
            .bind(LOCK)
            .fetch_one(&mut *conn)
            .await?;
        Ok(is_mine.then_some(Self(conn)))
    }

    /// Gives it back.
    pub async fn end(self) -> Result<(), Error> {
        // The lock ends with the connection.
        Ok(self.0.close().await?)
    }
}

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
async fn mark(conn: &mut PgConnection) -> Result<(), Error> {
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
