//! The write-ahead log: how much was written, what of it is still there and why, and whether it is archived.

use sqlx::PgConnection;

use super::Visibility;
use crate::Error;

/// What archiving the write-ahead log has done since the statistics of the server were reset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Archiving {
    /// Tries that failed.
    pub failures: f64,
    /// Whether the last try failed.
    pub is_failing: bool,
}

/// The write-ahead log that the server keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalKept {
    /// How large its files may grow while nothing else needs them, in bytes: `max_wal_size` and `wal_keep_size`.
    pub target: f64,
    /// How much the replication slot that is furthest behind needs, in bytes; 0 without any.
    pub by_slots: f64,
}

/// The write-ahead log that the server has written since its statistics were reset, in bytes. It may fall: after a failover, the
/// other server has counted for itself.
pub async fn wal_bytes(conn: &mut PgConnection) -> Result<f64, Error> {
    Ok(
        sqlx::query_scalar!(r#"select wal_bytes::float8 as "bytes!" from pg_stat_wal"#)
            .fetch_one(conn)
            .await?,
    )
}

/// Whether archiving works. `None`: the server does not archive.
pub async fn archiving(
    conn: &mut PgConnection,
    visibility: &Visibility,
) -> Result<Option<Archiving>, Error> {
    if !visibility.archives {
        return Ok(None);
    }
    let archiving = sqlx::query_as!(
        Archiving,
        r#"
        select
            failed_count::float8 as "failures!",
            coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as "is_failing!"
        from pg_stat_archiver
        "#
    );
    Ok(Some(archiving.fetch_one(conn).await?))
}

/// The size of the files in `pg_wal`, in bytes. `None`: the role may not list them.
pub async fn wal_files(
    conn: &mut PgConnection,
    visibility: &Visibility,
) -> Result<Option<f64>, Error> {
    if !visibility.lists_wal {
        return Ok(None);
    }
    let bytes = sqlx::query_scalar!(
        r#"select coalesce(sum(size), 0)::float8 as "bytes!" from pg_ls_waldir()"#
    );
    Ok(Some(bytes.fetch_one(conn).await?))
}

/// What keeps the write-ahead log.
pub async fn wal_kept(conn: &mut PgConnection) -> Result<WalKept, Error> {
    Ok(sqlx::query_as!(
        WalKept,
        r#"
        select
            (pg_size_bytes(current_setting('max_wal_size')) + pg_size_bytes(current_setting('wal_keep_size')))::float8 as "target!",
            coalesce((
                select max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)) from pg_replication_slots
            ), 0)::float8 as "by_slots!"
        "#
    )
    .fetch_one(conn)
    .await?)
}
