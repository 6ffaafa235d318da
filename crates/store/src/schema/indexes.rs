//! Indexes on tables that may be large when they get them. A migration would block all writers while
//! it reads such a table. These are created concurrently, after the migrations.

use std::time::Duration;

use sqlx::{AssertSqlSafe, PgConnection};
use tokio::time::sleep;

use crate::{Error, audit};

/// An index: its kind, its name with the schema if that is not `public`, its table, and what it contains.
struct Index {
    kind: &'static str,
    name: &'static str,
    table: &'static str,
    content: &'static str,
}

/// Statistics find rows by the transaction that stored them ([`crate::statistics`]). Numbers of
/// transactions only grow, so a new entry goes to the last page. Rows from before migration 26 have
/// no number and no entry.
///
/// The chains of the audit log ([`crate::audit::sealing`]) need the rows that are not sealed yet, and
/// the others in the order of their chain. No two rows have the same place.
///
/// Erasures find dead jobs by the item that their payload names ([`crate::erasure::slice`]). Only a
/// job that dies costs an entry.
const INDEXES: [Index; 6] = [
    Index {
        kind: "index",
        name: "media_stored_by_idx",
        table: "media",
        content: "(stored_by) where stored_by is not null",
    },
    Index {
        kind: "index",
        name: "verdicts_stored_by_idx",
        table: "verdicts",
        content: "(stored_by) where stored_by is not null",
    },
    Index {
        kind: "index",
        name: "delivery_attempts_stored_by_idx",
        table: "delivery_attempts",
        content: "(stored_by) where stored_by is not null",
    },
    Index {
        kind: "index",
        name: audit::UNSEALED_INDEX,
        table: "audit_log",
        content: "(coalesce(team_id, '00000000-0000-0000-0000-000000000000'), occurred_at, id) where chain_number is null",
    },
    Index {
        kind: "unique index",
        name: audit::CHAIN_INDEX,
        table: "audit_log",
        content: "(coalesce(team_id, '00000000-0000-0000-0000-000000000000'), chain_number) where chain_number is not null",
    },
    Index {
        kind: "index",
        name: "queue.dead_jobs_media_idx",
        table: "queue.dead_jobs",
        content: "((payload ->> 'media')) where payload ->> 'media' is not null",
    },
];

/// Reading a smaller table blocks its writers for less than a second, while a concurrent creation
/// waits for every open transaction.
pub(super) const SMALL_BYTES: i64 = 64 * 1024 * 1024;

/// Held as an advisory lock by the process that migrates and creates them.
const LOCK: i64 = 0x6761_7465_6964_7831;

const AGAIN: Duration = Duration::from_millis(200);

/// Creates the indexes that are missing, concurrently on tables of more than `small_bytes`. Several processes may try at
/// once.
pub(super) async fn create_missing(conn: &mut PgConnection, small_bytes: i64) -> Result<(), Error> {
    lock(conn).await?;
    for index in &INDEXES {
        create(conn, index, small_bytes).await?;
    }
    Ok(())
}

/// Waits until no other process migrates. The lock ends with the connection, which can take it several times.
pub(super) async fn lock(conn: &mut PgConnection) -> Result<(), Error> {
    // Not a waiting lock: it would hold a snapshot, and a concurrent creation waits for all of these.
    while !sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "is_ours!""#, LOCK)
        .fetch_one(&mut *conn)
        .await?
    {
        sleep(AGAIN).await;
    }
    Ok(())
}

async fn create(conn: &mut PgConnection, index: &Index, small_bytes: i64) -> Result<(), Error> {
    let Index {
        kind,
        name,
        table,
        content,
    } = index;
    let found = sqlx::query!(
        r#"
        select
            (select i.indisvalid from pg_index i where i.indexrelid = to_regclass($1)) as is_valid,
            pg_relation_size(to_regclass($2)) <= $3 as "is_small!"
        "#,
        name,
        table,
        small_bytes,
    )
    .fetch_one(&mut *conn)
    .await?;
    match found.is_valid {
        Some(true) => return Ok(()),
        // The last try was interrupted.
        Some(false) => run(conn, format!("drop index concurrently {name}")).await?,
        None => {}
    }
    let how = if found.is_small { "" } else { "concurrently" };
    // It gets the schema of its table.
    let own_name = name.rsplit('.').next().unwrap_or(name);
    run(
        conn,
        format!("create {kind} {how} {own_name} on {table} {content}"),
    )
    .await
}

async fn run(conn: &mut PgConnection, statement: String) -> Result<(), Error> {
    // All its parts are constants of this file.
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(conn)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests;
