//! Metrics of the pools, and what Postgres tells about itself.

use metrics::Unit;

use super::Kind::{self, Counter, Gauge, Histogram};

/// Kind, name, unit and help.
pub(super) const METRICS: [(Kind, &str, Unit, &str); 17] = [
    (
        Gauge,
        "gatehouse_db_pool_connections",
        Unit::Count,
        "Connections of the process's pool, by state",
    ),
    (
        Gauge,
        "gatehouse_db_connections_allowed",
        Unit::Count,
        "Connections that Postgres allows, without those for administrators",
    ),
    (
        Gauge,
        "gatehouse_db_connections_used",
        Unit::Count,
        "Connections to Postgres that are open, of all clients",
    ),
    (
        Gauge,
        "gatehouse_db_connections_wanted",
        Unit::Count,
        "Connections that all processes together may open",
    ),
    (
        Gauge,
        "gatehouse_db_connections_scarce",
        Unit::Count,
        "1 while Postgres has almost no free connections",
    ),
    (
        Histogram,
        "gatehouse_db_acquire_seconds",
        Unit::Seconds,
        "Time until a pool gave a caller a connection",
    ),
    (
        Counter,
        "gatehouse_db_errors_total",
        Unit::Count,
        "Failed statements and connections, by class of the SQLSTATE",
    ),
    (
        Counter,
        "gatehouse_sql_statements_total",
        Unit::Count,
        "Statements that this process sent to Postgres",
    ),
    (
        Gauge,
        "gatehouse_oldest_transaction_seconds",
        Unit::Seconds,
        "How long the oldest open transaction of a client has been open",
    ),
    (
        Gauge,
        "gatehouse_dead_tuples",
        Unit::Count,
        "Rows of a table that vacuum has not yet removed",
    ),
    (
        Gauge,
        "gatehouse_database_bytes",
        Unit::Bytes,
        "Size of the database",
    ),
    (
        Gauge,
        "gatehouse_wal_bytes_total",
        Unit::Bytes,
        "Write-ahead log that the server has written",
    ),
    (
        Gauge,
        "gatehouse_wal_files_bytes",
        Unit::Bytes,
        "Size of the files of the write-ahead log",
    ),
    (
        Gauge,
        "gatehouse_wal_target_bytes",
        Unit::Bytes,
        "Size up to which these files may grow while nothing else needs them",
    ),
    (
        Gauge,
        "gatehouse_wal_slot_bytes",
        Unit::Bytes,
        "Write-ahead log that the replication slot furthest behind needs",
    ),
    (
        Gauge,
        "gatehouse_wal_archive_failing",
        Unit::Count,
        "1 while the last try to archive a file of the write-ahead log failed",
    ),
    (
        Gauge,
        "gatehouse_wal_archive_failures_total",
        Unit::Count,
        "Failed tries to archive a file of the write-ahead log",
    ),
];
