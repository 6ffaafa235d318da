//! What the histories of several measurements have in common: SQL files that read settings, and run in batches.

use std::fmt::Display;

use anyhow::Context as _;
use sqlx::PgConnection;

/// Sets what the statements read as `bench.<name>`.
pub(crate) async fn set(
    conn: &mut PgConnection,
    name: &str,
    value: impl Display + Copy,
) -> anyhow::Result<()> {
    sqlx::query("select set_config('bench.' || $1, $2, false)")
        .bind(name)
        .bind(value.to_string())
        .execute(conn)
        .await?;
    Ok(())
}

/// Runs statements in one transaction.
pub(crate) async fn run(
    conn: &mut PgConnection,
    what: &str,
    statements: &'static str,
) -> anyhow::Result<()> {
    let ran = sqlx::raw_sql(statements).execute(conn).await;
    ran.with_context(|| format!("cannot fill in: {what}"))?;
    Ok(())
}

/// Prepares the session: commits need not reach the disk, chance is the seed's, and the time stands still as `bench.now`.
pub(crate) async fn begin(conn: &mut PgConnection, seed: u64) -> anyhow::Result<()> {
    sqlx::query(
        "
        select
            set_config('bench.now', now()::text, false), set_config('synchronous_commit', 'off', false),
            set_config('work_mem', '64MB', false), setseed($1)
        ",
    )
    .bind(f64::from(u32::try_from(seed % 1_000_000)?) / 1_000_000.0)
    .execute(conn)
    .await?;
    Ok(())
}

/// Runs statements for so many items, from 1, with so many in each transaction. They read `bench.first` and `bench.last`.
pub(crate) async fn in_batches(
    conn: &mut PgConnection,
    items: u64,
    batch: u64,
    statements: &'static str,
) -> anyhow::Result<()> {
    let mut first = 1;
    while first <= items {
        let last = items.min(first + batch - 1);
        set(conn, "first", first).await?;
        set(conn, "last", last).await?;
        run(conn, "items", statements).await?;
        eprintln!("{last} items");
        first = last + 1;
    }
    Ok(())
}

/// Cleans up as autovacuum does in every real installation.
pub(crate) async fn tidy(conn: &mut PgConnection) -> anyhow::Result<()> {
    for statement in ["vacuum analyze", "checkpoint"] {
        sqlx::query(statement).execute(&mut *conn).await?;
    }
    Ok(())
}

/// The size of the database.
pub(crate) async fn database_bytes(conn: &mut PgConnection) -> anyhow::Result<i64> {
    let size = "select pg_database_size(current_database())";
    Ok(sqlx::query_scalar(size).fetch_one(conn).await?)
}
