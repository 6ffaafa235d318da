//! The schema: migrations, and whether the database has the one that this binary was built for.

use std::time::Duration;

use sqlx::{
    Connection as _, PgPool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::Error;

static MIGRATOR: Migrator = sqlx::migrate!("../migrations");

/// How a process connects.
#[derive(Clone, Copy, Debug)]
pub struct PoolSettings {
    /// Most connections.
    pub connections: u32,
    /// How long a caller waits for one.
    pub acquire: Duration,
}

/// A connection that was in use this recently is taken to be alive.
const RESTED: Duration = Duration::from_millis(500);

/// A pool on the database at `url`. Connects when first used: a process may start before its database.
pub fn pool(url: &str, name: &str, settings: PoolSettings) -> Result<PgPool, Error> {
    let options: PgConnectOptions = url
        .parse::<PgConnectOptions>()?
        .application_name(name)
        .options([
            // A client that is gone must not leave a transaction open; it would keep dead rows alive in every table.
            ("idle_in_transaction_session_timeout", "60s"),
            // Statements are short and prepared; compiling them costs more than it gains.
            ("jit", "off"),
            // Plans are kept. One made while a table held a few rows would go on reading all of it, for each row of a
            // batch, until autovacuum has looked at the table again.
            ("enable_seqscan", "off"),
        ]);
    Ok(checked_when_rested()
        .max_connections(settings.connections)
        .acquire_timeout(settings.acquire)
        .connect_lazy_with(options))
}

/// Another pool on the same database: who uses it takes no connection from this one.
pub fn apart(pool: &PgPool, connections: u32) -> PgPool {
    let options = PgConnectOptions::clone(&pool.connect_options());
    checked_when_rested()
        .max_connections(connections)
        .acquire_timeout(pool.options().get_acquire_timeout())
        .connect_lazy_with(options)
}

/// A connection is asked for a sign of life before it is used, unless it was in use just now: under load that would be a
/// round trip for each statement. Whoever meets a connection that broke in between must be able to try again.
fn checked_when_rested() -> PgPoolOptions {
    PgPoolOptions::new()
        .test_before_acquire(false)
        .before_acquire(|connection, since| {
            Box::pin(async move {
                if since.idle_for > RESTED {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}

/// Brings the database to this binary's schema. Several processes may try at once: one does it, the others wait.
pub async fn migrate(pool: &PgPool) -> Result<(), Error> {
    queue::MIGRATOR.run(pool).await.map_err(sqlx::Error::from)?;
    MIGRATOR.run(pool).await.map_err(sqlx::Error::from)?;
    Ok(())
}

/// Whether every migration that this binary knows is applied. Newer ones may be there: migrations only ever expand
/// what older binaries use.
pub async fn is_current(pool: &PgPool) -> Result<bool, Error> {
    // Both tables are missing in an empty database, so they are looked for before they are read.
    let there = sqlx::query_scalar!(
        r#"
        select to_regclass('_sqlx_migrations') is not null and to_regclass('queue._migrations') is not null as "there!"
        "#
    )
    .fetch_one(pool)
    .await?;
    if !there {
        return Ok(false);
    }
    let service = "select max(version) from _sqlx_migrations where success";
    let queue = "select max(version) from queue._migrations where success";
    Ok(newest(pool, service).await? >= newest_known(&MIGRATOR)
        && newest(pool, queue).await? >= newest_known(&queue::MIGRATOR))
}

async fn newest(pool: &PgPool, statement: &'static str) -> Result<Option<i64>, Error> {
    Ok(sqlx::query_scalar(statement).fetch_one(pool).await?)
}

fn newest_known(migrator: &Migrator) -> Option<i64> {
    migrator.iter().map(|migration| migration.version).max()
}
