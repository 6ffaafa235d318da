//! The schema: migrations, and whether the database has the one that this binary was built for.

mod indexes;

use sqlx::{Connection as _, PgConnection, PgPool, migrate::Migrator};

use crate::Error;

static MIGRATOR: Migrator = sqlx::migrate!("../migrations");

/// A connection of a command. Its statements end after a minute, also when nobody waits for them
/// any more.
pub async fn connect_for_command(pool: &PgPool) -> Result<PgConnection, Error> {
    let mut conn = database::connect(pool).await?;
    sqlx::raw_sql("set statement_timeout = '60s'")
        .execute(&mut conn)
        .await?;
    Ok(conn)
}

/// Brings the database to this binary's schema. Several processes may try at once: one does it, the
/// others wait.
pub async fn migrate(pool: &PgPool) -> Result<(), Error> {
    let mut conn = database::connect(pool).await?;
    sqlx::raw_sql("set lock_timeout = 0")
        .execute(&mut conn)
        .await?;
    for migrator in [&queue::MIGRATOR, &MIGRATOR] {
        migrator.run(&mut conn).await.map_err(sqlx::Error::from)?;
    }
    indexes::create_missing(&mut conn, indexes::SMALL_BYTES).await?;
    Ok(conn.close().await?)
}

/// Whether every migration that this binary knows is applied. Newer ones may be there: migrations
/// only ever expand what older binaries use.
pub async fn is_current(pool: &PgPool) -> Result<bool, Error> {
    // Both tables are missing in an empty database, so the statement checks for them before they
    // are read.
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
