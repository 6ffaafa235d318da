//! Pools of connections, and what closes those that rest in them, so that others can have their
//! places on the server.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use log::LevelFilter;
use sqlx::{PgConnection, PgPool, postgres::PgPoolOptions};
use tokio::time::{sleep, timeout};

use crate::{
    connection_setup, connection_shortage,
    errors::{Unwritable, count_error},
    url::Hosts,
};

/// A connection that was used this recently is considered alive.
const RESTED: Duration = Duration::from_millis(500);
/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(100);
/// How many looks it takes to know how many connections a pool can do without.
const LOOKS: u32 = 20;
/// So many may rest.
const FLOOR: usize = 2;
/// How long closing a connection may take.
const CLOSING: Duration = Duration::from_secs(1);

/// The size of a pool, and how long its callers wait.
#[derive(Clone, Copy, Debug)]
pub struct PoolSettings {
    /// Most connections.
    pub connections: u32,
    /// How long a caller waits for one.
    pub acquire: Duration,
}

/// A pool on the first of the hosts. [`watch`](crate::watch) leads it to the host that can write.
/// The pool connects when it is first used, because a process may start before its database. `name`
/// is shown in `pg_stat_activity`.
pub fn pool(hosts: &Hosts, name: &str, settings: PoolSettings) -> PgPool {
    prepared()
        .max_connections(settings.connections)
        .acquire_timeout(settings.acquire)
        .connect_lazy_with(hosts.first().clone().application_name(name))
}

/// Another pool on the same database. Its users take no connection from this pool.
pub fn separate_pool(pool: &PgPool, connections: u32) -> PgPool {
    prepared()
        .max_connections(connections)
        .acquire_timeout(pool.options().get_acquire_timeout())
        .connect_lazy_with((*pool.connect_options()).clone())
}

/// Another pool on the same database, for a command that does one thing and ends. Its statements
/// end after a minute, even when nobody waits for them any more.
pub fn for_command(pool: &PgPool) -> PgPool {
    prepared()
        .after_connect(|conn, _| {
            Box::pin(async move {
                prepare(conn).await?;
                connection_setup::bound_statements(conn).await
            })
        })
        .max_connections(2)
        .acquire_timeout(pool.options().get_acquire_timeout())
        .connect_lazy_with((*pool.connect_options()).clone())
}

fn prepared() -> PgPoolOptions {
    PgPoolOptions::new()
        .after_connect(|conn, _| Box::pin(prepare(conn)))
        // Whoever listens to sqlx's events learns how long each caller waited.
        .acquire_time_level(LevelFilter::Debug)
        // A metric tells of long waits. After an outage, each caller would have a line.
        .acquire_slow_level(LevelFilter::Debug)
        .test_before_acquire(false)
        .after_release(|_, meta| Box::pin(async move { Ok(connection_shortage::keeps(meta.age)) }))
        .before_acquire(|conn, meta| {
            Box::pin(async move {
                if !is_due(meta.age, meta.idle_for) {
                    return Ok(true);
                }
                match connection_setup::prove(conn).await.inspect_err(count_error) {
                    Ok(()) => Ok(true),
                    Err(sqlx::Error::Configuration(error)) if error.is::<Unwritable>() => Ok(false),
                    Err(error) => Err(error),
                }
            })
        })
}

/// The pool tries again after an error here, and tells nobody.
async fn prepare(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection_setup::prepare(conn)
        .await
        .inspect_err(count_error)
}

/// Whether a connection must prove that it is alive and that its server can write: after it has
/// been idle, and once in each second of its life, so that a busy connection proves it too. Under
/// load, a check each time would be one round trip per statement. Callers must be able to try again
/// when a connection breaks in between.
fn is_due(age: Duration, idle_for: Duration) -> bool {
    let released_at = age.saturating_sub(idle_for);
    idle_for > RESTED || released_at.as_secs() < age.as_secs()
}

/// Closes what rests in pools, for ever. More pools may be added meanwhile.
///
/// A pool gives out its connections in turn. Under a light load, all of them are used from time to
/// time, and none rests for long. So what counts is how many rested at the same time, all the time.
pub(crate) async fn trim(pools: Arc<Mutex<Vec<PgPool>>>) {
    loop {
        let mut least = Vec::new();
        for _ in 0..LOOKS {
            sleep(LOOK).await;
            let pools = pools.lock().unwrap_or_else(PoisonError::into_inner).clone();
            least.resize(pools.len(), usize::MAX);
            for (pool, least) in pools.iter().zip(&mut least) {
                let idle = pool.num_idle();
                *least = idle.min(*least);
                if connection_shortage::is_scarce() {
                    close(pool, idle).await;
                }
            }
        }
        let pools = pools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (pool, least) in pools.iter().zip(least) {
            close(pool, surplus(least)).await;
        }
    }
}

/// How many connections to close if at least so many rested all the time: half of those above the
/// floor, because the next seconds may need more than the last ones.
fn surplus(least: usize) -> usize {
    least.saturating_sub(FLOOR).div_ceil(2)
}

async fn close(pool: &PgPool, connections: usize) {
    for _ in 0..connections {
        let Some(conn) = pool.try_acquire() else {
            return;
        };
        // One that does not answer is dropped.
        let _ = timeout(CLOSING, conn.close()).await;
    }
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

    #[test]
    fn half_of_what_rests_goes_each_time_and_a_few_stay() {
        let mut resting = 16;
        let mut rounds = 0;
        while surplus(resting) > 0 {
            resting -= surplus(resting);
            rounds += 1;
        }
        assert_eq!((resting, rounds), (FLOOR, 4));
        assert_eq!(surplus(0), 0);
    }
}
