//! Pools of connections.

use std::time::Duration;

use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::{
    session::{self, Unwritable},
    url::Hosts,
};

/// The size of a pool, and how long its callers wait.
#[derive(Clone, Copy, Debug)]
pub struct PoolSettings {
    /// Most connections.
    pub connections: u32,
    /// How long a caller waits for one.
    pub acquire: Duration,
}

/// A pool on the first of the hosts; [`watch`](crate::watch) leads it to the one that can write. Connects when first used:
/// a process may start before its database. `name` is shown in `pg_stat_activity`.
pub fn pool(hosts: &Hosts, name: &str, settings: PoolSettings) -> PgPool {
    prepared()
        .max_connections(settings.connections)
        .acquire_timeout(settings.acquire)
        .connect_lazy_with(hosts.first().clone().application_name(name))
}

/// Another pool on the same database: who uses it takes no connection from this one.
pub fn apart(pool: &PgPool, connections: u32) -> PgPool {
    prepared()
        .max_connections(connections)
        .acquire_timeout(pool.options().get_acquire_timeout())
        .connect_lazy_with((*pool.connect_options()).clone())
}

/// Another pool on the same database, for a command that does one thing and ends: its statements end after a minute, also
/// when nobody waits for them any more.
pub fn for_command(pool: &PgPool) -> PgPool {
    prepared()
        .after_connect(|conn, _| {
            Box::pin(async move {
                session::prepare(conn).await?;
                session::bound_statements(conn).await
            })
        })
        .max_connections(2)
        .acquire_timeout(pool.options().get_acquire_timeout())
        .connect_lazy_with((*pool.connect_options()).clone())
}

fn prepared() -> PgPoolOptions {
    PgPoolOptions::new()
        .after_connect(|conn, _| Box::pin(session::prepare(conn)))
        .test_before_acquire(false)
        .before_acquire(|conn, meta| {
            Box::pin(async move {
                if !is_due(meta.age, meta.idle_for) {
                    return Ok(true);
                }
                match session::prove(conn).await {
                    Ok(()) => Ok(true),
                    Err(sqlx::Error::Configuration(error)) if error.is::<Unwritable>() => Ok(false),
                    Err(error) => Err(error),
                }
            })
        })
}

/// A connection that was in use this recently is taken to be alive.
const RESTED: Duration = Duration::from_millis(500);

/// Whether a connection is to show that it is alive and that its server can write: after it has rested, and each time that a
/// second of its life ends while it rests, so that a busy one does so, too. Under load, asking each time would be a round
/// trip for each statement. Whoever meets a connection that broke in between must be able to try again.
fn is_due(age: Duration, idle_for: Duration) -> bool {
    let released_at = age.saturating_sub(idle_for);
    idle_for > RESTED || released_at.as_secs() < age.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_asked_after_a_rest_and_once_a_second_while_it_is_busy() {
        let is_due =
            |age, idle_for| is_due(Duration::from_millis(age), Duration::from_millis(idle_for));
        assert!(!is_due(10_300, 200));
        assert!(is_due(10_700, 600));
        assert!(is_due(10_100, 200));
        assert!(!is_due(10_100, 0));
    }
}
