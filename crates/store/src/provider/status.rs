//! The state of the providers, for operators.

use chrono::{DateTime, Utc};
use domain::{breaker::Breaker, throttle::Throttle};
use sqlx::PgConnection;

use super::State;
use crate::Error;

/// The most credentials that are read.
const MOST: i64 = 200;

/// The state of one credential of a provider. The credential itself is not told.
#[derive(Clone, Debug)]
pub struct CredentialStatus {
    /// The provider's name.
    pub provider: String,
    /// The state.
    pub state: State,
    /// When the state last changed.
    pub changed_at: DateTime<Utc>,
    /// The time of the database.
    pub at: DateTime<Utc>,
}

/// The states of the credentials that had a problem within a day, the latest changed first, at most
/// 200. Credentials without one never had a problem, or none for a day.
pub async fn credential_statuses(conn: &mut PgConnection) -> Result<Vec<CredentialStatus>, Error> {
    let rows = sqlx::query!(
        r#"
        select
            provider, paused_until, failures, openings, open_until, probe_until, limit_from_bytes, limit_met,
            limit_passed, limit_until, limit_probe_until, changed_at, clock_timestamp() as "at!"
        from provider_states
        where changed_at >= now() - interval '1 day'
        order by changed_at desc, credential
        limit $1
        "#,
        MOST,
    )
    .fetch_all(conn)
    .await?;
    let count = |stored: i32| u32::try_from(stored).unwrap_or(0);
    let credential_statuses = rows.into_iter().map(|row| CredentialStatus {
        state: State {
            paused_until: row.paused_until,
            breaker: Breaker {
                failures: count(row.failures),
                openings: count(row.openings),
                open_until: row.open_until,
                probe_until: row.probe_until,
            },
            throttle: Throttle {
                from_bytes: count(row.limit_from_bytes),
                met: count(row.limit_met),
                passed: count(row.limit_passed),
                until: row.limit_until,
                probe_until: row.limit_probe_until,
            },
        },
        provider: row.provider,
        changed_at: row.changed_at,
        at: row.at,
    });
    Ok(credential_statuses.collect())
}
