//! The schema: migrations, and whether the database has one that this binary can serve.

mod access;
mod compatibility;
mod indexes;
mod ops_role;
mod preconditions;
#[cfg(test)]
mod tests;
mod unready;

use sqlx::{Connection as _, PgConnection, PgPool, migrate::Migrator};

use crate::Error;

pub use self::{
    compatibility::Compatibility,
    ops_role::missing_role,
    unready::{Unready, Versions},
};

static MIGRATOR: Migrator = sqlx::migrate!("../../migrations");

/// A connection of a command. Its statements end after a minute, also when nobody waits for them
/// any more.
pub async fn connect_for_command(pool: &PgPool) -> Result<PgConnection, Error> {
    let mut conn = database::connect(pool).await?;
    sqlx::raw_sql("set statement_timeout = '60s'")
        .execute(&mut conn)
        .await?;
    Ok(conn)
}

/// Brings the database to this binary's schema, or leaves a newer one as it is. Several processes may try at once: one does it, the
/// others wait.
///
/// # Errors
/// [`Unready`]. Nothing was written if the database belongs to others, if the role may not create tables, or if the schema is too new.
pub async fn migrate(pool: &PgPool) -> Result<Compatibility, Unready> {
    let mut conn = database::connect(pool).await?;
    sqlx::raw_sql("set lock_timeout = 0")
        .execute(&mut conn)
        .await?;
    // The lock ends with the connection.
    indexes::lock(&mut conn).await?;
    let compatibility = match compatibility::look(&mut conn).await {
        Ok(newer @ Compatibility::Newer { .. }) => newer,
        Ok(Compatibility::Current) | Err(Unready::Behind) => {
            for migrator in [&queue::MIGRATOR, &MIGRATOR] {
                migrator.run(&mut conn).await.map_err(sqlx::Error::from)?;
            }
            indexes::create_missing(&mut conn, indexes::SMALL_BYTES).await?;
            Compatibility::Current
        }
        Err(unready) => return Err(unready),
    };
    conn.close().await?;
    Ok(compatibility)
}

/// Whether this binary can serve the schema: every migration that it knows is applied. Newer ones may be there if they only add.
///
/// # Errors
/// [`Unready`] says why not, and what to do.
pub async fn compatibility(pool: &PgPool) -> Result<Compatibility, Unready> {
    let mut conn = pool.acquire().await?;
    compatibility::look(&mut conn).await
}
