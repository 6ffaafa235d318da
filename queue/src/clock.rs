//! The one clock that counts.

use chrono::{DateTime, Utc};
use sqlx::PgConnection;

/// What time it is for the database, by whose clock jobs are due, leases end and pauses last.
pub async fn now(conn: &mut PgConnection) -> Result<DateTime<Utc>, sqlx::Error> {
    sqlx::query_scalar!(r#"select now() as "now!""#)
        .fetch_one(conn)
        .await
}
