//! What Postgres reports about itself.

use sqlx::PgConnection;

use super::Visibility;
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
/// the server; 0 if none is. Prepared transactions count. `None`: the role does not see the
/// transactions of all roles.
pub async fn oldest_transaction(
    conn: &mut PgConnection,
    visibility: &Visibility,
) -> Result<Option<f64>, Error> {
    if !visibility.sees_transactions() {
        return Ok(None);
    }
    let seconds = sqlx::query_scalar!(
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
    );
    Ok(Some(seconds.fetch_one(conn).await?))
}

/// The dead rows of every table of the service and of the queue, at most of a hundred tables. None if the server does not count rows.
pub async fn dead_tuples(
    conn: &mut PgConnection,
    visibility: &Visibility,
) -> Result<Vec<Dead>, Error> {
    if !visibility.tracks_counts {
        return Ok(Vec::new());
    }
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
