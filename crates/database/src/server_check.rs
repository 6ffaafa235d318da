//! Whether a server can be used at all. A problem found here stays until somebody changes the
//! server.

use std::time::Duration;

use sqlx::{PgConnection, PgPool, Row as _};
use tokio::time::timeout;

use crate::connection_setup;

/// The oldest supported version, in the form of `server_version_num`.
const OLDEST: i32 = 150_000;
/// How long all checks together may take.
const DEADLINE: Duration = Duration::from_secs(20);
/// How long a pooler may keep a statement waiting for a server.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UnsuitableServer {
    /// It cannot store our texts.
    #[error(
        "the database's encoding is {0}, which cannot store every text: create a database with `encoding 'UTF8'`"
    )]
    Encoding(String),
    /// It lacks something that Gatehouse uses.
    #[error("this is PostgreSQL {0}, but Gatehouse needs 15 or later")]
    Version(String),
    /// Settings, listening and locks belong to a session, which such a pooler does not keep.
    #[error(
        "there is a pooler in transaction mode in front of the database: connect without it, or set it to session mode"
    )]
    Pooled,
    /// The check itself failed.
    #[error(transparent)]
    Sql(sqlx::Error),
}

impl From<sqlx::Error> for UnsuitableServer {
    fn from(error: sqlx::Error) -> Self {
        Self::Sql(crate::plain_error(error))
    }
}

impl UnsuitableServer {
    /// Whether the problem stays until somebody changes the server.
    pub const fn is_final(&self) -> bool {
        !matches!(self, Self::Sql(_))
    }
}

/// Checks the database of a pool.
///
/// # Errors
/// [`UnsuitableServer`] says what is wrong with it.
pub async fn check_server(pool: &PgPool) -> Result<(), UnsuitableServer> {
    timeout(DEADLINE, examine(pool))
        .await
        .unwrap_or_else(|_| Err(crate::deadline_exceeded(DEADLINE).into()))
}

async fn examine(pool: &PgPool) -> Result<(), UnsuitableServer> {
    let mut conn = connection_setup::connect(pool).await?;
    let row = sqlx::raw_sql(
        "select
            current_setting('server_encoding'), current_setting('server_version'),
            current_setting('server_version_num')::integer",
    )
    .fetch_one(&mut conn)
    .await?;
    let encoding: String = row.try_get(0)?;
    if encoding != "UTF8" {
        return Err(UnsuitableServer::Encoding(encoding));
    }
    if row.try_get::<i32, _>(2)? < OLDEST {
        return Err(UnsuitableServer::Version(row.try_get(1)?));
    }
    let mut other = connection_setup::connect(pool).await?;
    if is_shared(&mut conn, &mut other).await? {
        return Err(UnsuitableServer::Pooled);
    }
    Ok(())
}

/// Whether two connections are not two sessions: the server process of one connection is given to
/// the other as soon as it is free.
async fn is_shared(conn: &mut PgConnection, other: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let before = server_process(conn).await?;
    sqlx::raw_sql("begin").execute(&mut *other).await?;
    let others = server_process(other).await?;
    // A pooler whose other servers are all in use never answers.
    let Ok(after) = timeout(PATIENCE, server_process(conn)).await else {
        return Ok(true);
    };
    sqlx::raw_sql("rollback").execute(other).await?;
    Ok(others == before || after? != before)
}

async fn server_process(conn: &mut PgConnection) -> Result<i32, sqlx::Error> {
    let row = sqlx::raw_sql("select pg_backend_pid()")
        .fetch_one(conn)
        .await?;
    row.try_get(0)
}
