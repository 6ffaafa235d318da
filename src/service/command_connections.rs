//! The connections of a command that does one thing and ends.

use store::{PgConnection, PgPool, schema};

use crate::config::Database;

/// The connection of a command that does one thing and ends, to a database that has this binary's
/// schema. Its statements have a limit of one minute, even if nobody waits for them any more.
pub(crate) async fn connect(database: &Database, name: &str) -> anyhow::Result<PgConnection> {
    let pool = open_current(database, name).await?;
    Ok(schema::connect_for_command(&pool).await?)
}

/// The pool of such a command, to a database whose schema this binary can serve.
pub(crate) async fn open_current(database: &Database, name: &str) -> anyhow::Result<PgPool> {
    let pool = open(database, name).await?;
    schema::compatibility(&pool).await?;
    Ok(pool)
}

/// The pool of a command that does one thing and ends, on the host that can write. Fails with a
/// reason if something is wrong with the database.
pub(crate) async fn open(database: &Database, name: &str) -> anyhow::Result<PgPool> {
    let hosts = database.hosts.clone().with_writable_first().await?;
    let pool = ::database::pool(&hosts, name, database.pool.settings());
    ::database::check_server(&pool).await?;
    Ok(pool)
}
