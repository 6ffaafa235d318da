//! The one clock that counts.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

/// The time of the database. Its clock decides when jobs are due, leases end and pauses end.
pub async fn now(conn: &mut PgConnection) -> Result<DateTime<Utc>, sqlx::Error> {
    sqlx::query_scalar!(r#"select now() as "now!""#)
        .fetch_one(conn)
        .await
}
