//! The connections of a command that does one thing and ends.

use database::Hosts;
use store::{PgConnection, PgPool, schema};

use crate::config::DatabaseOptions;

/// The connection of a command that does one thing and ends, to a database that has this binary's
/// schema. Its statements have a limit of one minute, even if nobody waits for them any more.
pub(crate) async fn connect(options: &DatabaseOptions, name: &str) -> anyhow::Result<PgConnection> {
    let pool = open_current(options, name).await?;
    Ok(schema::connect_for_command(&pool).await?)
}

/// The pool of such a command, to a database whose schema this binary can serve.
pub(crate) async fn open_current(options: &DatabaseOptions, name: &str) -> anyhow::Result<PgPool> {
    let pool = open(options, name).await?;
    schema::standing(&pool).await?;
    Ok(pool)
}

/// The pool of a command that does one thing and ends, on the host that can write. Fails with a
/// reason if something is wrong with the database.
pub(crate) async fn open(options: &DatabaseOptions, name: &str) -> anyhow::Result<PgPool> {
    let hosts = Hosts::parse(&options.url()?)?;
    let hosts = hosts.with_writable_first().await?;
    let pool = database::pool(&hosts, name, options.pool.settings());
    database::fit(&pool).await?;
    Ok(pool)
}
