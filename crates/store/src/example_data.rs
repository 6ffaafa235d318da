//! Example data: a team with invented history, which `gatehouse up --demo-data` creates and `gatehouse admin remove-example-data`
//! removes. Its id is fixed, so neither command can take another team for it.

mod items;
mod remove;
mod team;

use domain::id::TeamId;
use sqlx::{PgConnection, PgPool, pool::PoolConnection, postgres::Postgres};
use uuid::Uuid;

pub use self::{
    items::{Analysis, Attempt, Batch, Delivery, Event, Item, Verdict, add},
    remove::{Removed, remove},
    team::{Begun, begin, finish},
};
use crate::Error;

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
