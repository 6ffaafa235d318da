//! The state of a provider's credential, for all workers together: one row, read often and written
//! on change.

use chrono::{DateTime, Utc};
use domain::{breaker::Breaker, throttle::Throttle};
use sqlx::{Connection as _, PgConnection, PgPool};

use crate::Error;

/// The state of a credential. An unknown credential counts as working.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Until when it asked us to send no requests.
    pub paused_until: Option<DateTime<Utc>>,
    /// Whether it keeps failing.
    pub breaker: Breaker,
    /// Whether it limits our requests.
    pub throttle: Throttle,
}

/// A state at a moment of Postgres's clock.
#[derive(Clone, Copy, Debug)]
pub struct Stated {
    /// The state.
    pub state: State,
    /// When that was.
    pub at: DateTime<Utc>,
}

/// Reads a state.
pub async fn read(pool: &PgPool, credential: &str) -> Result<Stated, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            s.paused_until, s.failures as "failures?", s.openings as "openings?", s.open_until, s.probe_until,
            s.limit_from_bytes as "limit_from_bytes?", s.limit_met as "limit_met?", s.limit_passed as "limit_passed?",
            s.limit_until, s.limit_probe_until, clock_timestamp() as "at!"
        from (values ($1::text)) as c (credential)
        left join provider_states s using (credential)
        "#,
        credential,
    )
    .fetch_one(pool)
    .await?;
    Ok(row.into())
}

/// Changes a state under its lock. `how` gets the present state and the time. What `how` returns
/// comes back with the stored state.
pub async fn change<R>(
    pool: &PgPool,
    credential: &str,
    provider: &str,
    how: impl FnOnce(&mut State, DateTime<Utc>) -> R,
) -> Result<(Stated, R), Error> {
    let mut conn = pool.acquire().await?;
    let mut tx = conn.begin().await?;
    ensure(&mut tx, credential, provider).await?;
    let mut stated = lock(&mut tx, credential).await?;
    let before = stated.state;
    let result = how(&mut stated.state, stated.at);
    if stated.state != before {
        write(&mut tx, credential, &stated.state).await?;
    }
    tx.commit().await?;
    Ok((stated, result))
}

async fn ensure(conn: &mut PgConnection, credential: &str, provider: &str) -> Result<(), Error> {
    sqlx::query!(
        "insert into provider_states (credential, provider) values ($1, $2) on conflict (credential) do nothing",
        credential,
        provider,
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn lock(conn: &mut PgConnection, credential: &str) -> Result<Stated, Error> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select
            paused_until, failures as "failures?", openings as "openings?", open_until, probe_until,
            limit_from_bytes as "limit_from_bytes?", limit_met as "limit_met?", limit_passed as "limit_passed?",
            limit_until, limit_probe_until, clock_timestamp() as "at!"
        from provider_states
        where credential = $1
        for update
        "#,
        credential,
    )
    .fetch_one(conn)
    .await?;
    Ok(row.into())
}

async fn write(conn: &mut PgConnection, credential: &str, state: &State) -> Result<(), Error> {
    let stored = |count: u32| i32::try_from(count).unwrap_or(i32::MAX);
    sqlx::query!(
        "
        update provider_states
        set
            paused_until = $2, failures = $3, openings = $4, open_until = $5, probe_until = $6, limit_from_bytes = $7,
            limit_met = $8, limit_passed = $9, limit_until = $10, limit_probe_until = $11, changed_at = now()
        where credential = $1
        ",
        credential,
        state.paused_until,
        stored(state.breaker.failures),
        stored(state.breaker.openings),
        state.breaker.open_until,
        state.breaker.probe_until,
        stored(state.throttle.from_bytes),
        stored(state.throttle.met),
        stored(state.throttle.passed),
        state.throttle.until,
        state.throttle.probe_until,
    )
    .execute(conn)
    .await?;
    Ok(())
}

struct Row {
    paused_until: Option<DateTime<Utc>>,
    failures: Option<i32>,
    openings: Option<i32>,
    open_until: Option<DateTime<Utc>>,
    probe_until: Option<DateTime<Utc>>,
    limit_from_bytes: Option<i32>,
    limit_met: Option<i32>,
    limit_passed: Option<i32>,
    limit_until: Option<DateTime<Utc>>,
    limit_probe_until: Option<DateTime<Utc>>,
    at: DateTime<Utc>,
}

/// The state in a row. `$count` reads a number.
macro_rules! state {
    ($row:expr, $count:expr) => {
        State {
            paused_until: $row.paused_until,
            breaker: Breaker {
                failures: $count($row.failures),
                openings: $count($row.openings),
                open_until: $row.open_until,
                probe_until: $row.probe_until,
            },
            throttle: Throttle {
                from_bytes: $count($row.limit_from_bytes),
                met: $count($row.limit_met),
                passed: $count($row.limit_passed),
                until: $row.limit_until,
                probe_until: $row.limit_probe_until,
            },
        }
    };
}

impl From<Row> for Stated {
    fn from(row: Row) -> Self {
        let count = |stored: Option<i32>| u32::try_from(stored.unwrap_or(0)).unwrap_or(0);
        Self {
            state: state!(row, count),
            at: row.at,
        }
    }
}

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
        state: state!(row, count),
        provider: row.provider,
        changed_at: row.changed_at,
        at: row.at,
    });
    Ok(credential_statuses.collect())
}
