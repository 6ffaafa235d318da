//! Metrics of the whole database, for one process: what Postgres reports about
//! itself, and what waits for people, for receivers or to be sealed.
//!
//! Every statement looks at a bounded number of rows and has a time limit, so it costs little
//! however much is stored.

mod audit;
mod postgres;
mod visibility;
mod wal;
mod workload;

use sqlx::{PgConnection, PgPool};

pub use self::{
    audit::oldest_unsealed,
    postgres::{Dead, database_bytes, dead_tuples, oldest_transaction},
    visibility::{Blind, Visibility, visibility},
    wal::{Archiving, WalKept, archiving, wal_bytes, wal_files, wal_kept},
    workload::{COUNTED, Endpoints, Reviews, endpoints, reviews},
};
use crate::Error;

/// A connection for these figures alone, so that they can be read while all others are busy. A
/// statement ends after five seconds, even when nobody waits for it any more. Unlike elsewhere, tables
/// may be read in their own order: a limited number of rows is counted ten times faster than by an
/// index.
pub async fn connect(pool: &PgPool) -> Result<PgConnection, Error> {
    let mut conn = database::connect(pool).await?;
    sqlx::raw_sql(
        "set statement_timeout = '5s'; set lock_timeout = '1s'; set enable_seqscan = on;
         set default_transaction_read_only = on",
    )
    .execute(&mut conn)
    .await?;
    Ok(conn)
}
