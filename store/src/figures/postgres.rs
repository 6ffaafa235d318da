//! What Postgres reports about itself.

use sqlx::PgConnection;

use crate::Error;

/// Tables that are reported. Gatehouse has about sixty; others may be in the same schema.
const TABLES: i64 = 100;

/// The dead rows of a table, as far as Postgres knows.
#[derive(Debug)]
pub struct Dead {
    /// Its name; with `queue.` if it is one of the queue's.
    pub table: String,
    /// Rows that vacuum has not yet removed.
    pub tuples: i64,
}

/// How long the oldest open transaction of a client has been open, in seconds, in any database of
/// the server; 0 if none is. Prepared transactions count. Postgres shows the transactions of other
/// roles only to members of `pg_read_all_stats`.
pub async fn oldest_transaction(conn: &mut PgConnection) -> Result<f64, Error> {
    Ok(sqlx::query_scalar!(
        r#"
        select coalesce(extract(epoch from clock_timestamp() - min(since)), 0)::float8 as "seconds!"
        from (
            select xact_start as since
            from pg_stat_activity
            where backend_type = 'client backend' and pid <> pg_backend_pid()
            union all
            select prepared from pg_prepared_xacts
        ) as open
        "#
    )
    .fetch_one(conn)
    .await?)
}

/// The dead rows of every table of the service and of the queue, at most of a hundred tables.
pub async fn dead_tuples(conn: &mut PgConnection) -> Result<Vec<Dead>, Error> {
    Ok(sqlx::query_as!(
        Dead,
        r#"
        select
            case schemaname when 'queue' then 'queue.' else '' end || relname as "table!",
            n_dead_tup as "tuples!"
        from pg_stat_user_tables
        where schemaname in ('queue', current_schema())
        order by n_dead_tup desc, relid
        limit $1
        "#,
        TABLES,
    )
    .fetch_all(conn)
    .await?)
}

/// The size of the database's files.
pub async fn database_bytes(conn: &mut PgConnection) -> Result<i64, Error> {
    Ok(
        sqlx::query_scalar!(r#"select pg_database_size(current_database()) as "bytes!""#)
            .fetch_one(conn)
            .await?,
    )
}

/// The write-ahead log that the server has written since its statistics were reset. It may fall:
/// after a failover, the other server has counted for itself.
pub async fn wal_bytes(conn: &mut PgConnection) -> Result<f64, Error> {
    Ok(
        sqlx::query_scalar!(r#"select wal_bytes::float8 as "bytes!" from pg_stat_wal"#)
            .fetch_one(conn)
            .await?,
    )
}
