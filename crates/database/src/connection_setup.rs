//! Prepares a new connection before it is used.

use std::time::Duration;

use sqlx::{Connection as _, PgConnection, PgPool, Row as _, postgres::PgConnectOptions};
use tokio::time::timeout;

use crate::{
    connection_shortage,
    errors::{Unwritable, deadline_exceeded, plain_error},
};

/// The settings that correctness needs, whatever the defaults of the server, the database or the
/// role are. They are made with `set`, because poolers refuse or forget settings that are requested
/// when a connection is opened.
const SETTINGS: &str = "
    -- Statements wait for rows that others are changing, and then go on with what those became. Anything stricter fails.
    set default_transaction_isolation = 'read committed';
    -- Whoever waits for a lock for so long should be told that it is the lock.
    set lock_timeout = '10s';
    -- Connections rest while there is nothing to do.
    set idle_session_timeout = 0;
    -- A client that is gone must not leave a transaction open; it would keep dead rows alive in every table.
    set idle_in_transaction_session_timeout = '60s';
    -- Statements are short and prepared; compiling them costs more than it gains.
    set jit = off;
    -- Plans are kept. One made while a table held a few rows would go on reading all of it, for each row of a batch, until
    -- autovacuum has looked at the table again.
    set enable_seqscan = off;
    -- What is acknowledged is on disk. A stricter setting than `on` stays.
    select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off';
";

/// Whether the session's server can write, and if not, why not.
const PROOF: &str = "
    select case
        when pg_is_in_recovery() then 'a standby'
        when current_setting('transaction_read_only')::boolean then 'read-only'
    end
";

/// Makes the settings of a new connection, and checks that its server can write.
pub(crate) async fn prepare(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(SETTINGS).execute(&mut *conn).await?;
    prove(conn).await
}

/// Fails unless the session's server can write.
pub(crate) async fn prove(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    let row = sqlx::raw_sql(PROOF).fetch_one(conn).await?;
    match row.try_get::<Option<String>, _>(0)? {
        None => Ok(()),
        Some(reason) => Err(Unwritable(reason).into()),
    }
}

/// Ends each statement of a connection after a minute.
pub(crate) async fn bound_statements(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::raw_sql("set statement_timeout = '60s'")
        .execute(conn)
        .await?;
    Ok(())
}

/// How long opening and preparing a connection may take, with all tries.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection of its own to the database of a pool, prepared like those of the pool.
///
/// While Postgres has no connection left, it tries again: processes [hand theirs back](connection_shortage).
///
/// # Errors
/// The reason itself, such as a refused connection, or no answer within 5 s. A pool would keep
/// trying, and then report only a timeout.
pub async fn connect(pool: &PgPool) -> Result<PgConnection, sqlx::Error> {
    let mut refused = None;
    let connecting = async {
        loop {
            match open(&pool.connect_options()).await {
                Err(error) if connection_shortage::is_refusal(&error) => {
                    connection_shortage::sign();
                    refused = Some(error);
                    connection_shortage::turn().await;
                }
                other => return other,
            }
        }
    };
    match timeout(PATIENCE, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(refused.unwrap_or_else(|| deadline_exceeded(PATIENCE))),
    }
    .map_err(plain_error)
}

pub(crate) async fn open(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let mut conn = PgConnection::connect_with(options).await?;
    prepare(&mut conn).await?;
    Ok(conn)
}
