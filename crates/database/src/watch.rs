//! Watches the database from a connection of its own: can it be reached, can it write, and what
//! time does it have?

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use metrics::gauge;
use sqlx::{Connection as _, PgConnection, PgPool, Row as _, postgres::PgConnectOptions};
use telemetry::{RepeatedFailure, failed, over};
use tokio::{task::AbortHandle, time::sleep};
use tracing::{debug, info, warn};

use crate::{
    connection_setup,
    connection_shortage::{self, Room},
    errors::{self, count_error},
    outage,
    pool::trim,
    primary::{self, Unreachable, find, within_patience},
    url::{self, Hosts},
};

/// The pause between two looks.
const EVERY: Duration = Duration::from_secs(1);

/// A database that is watched, for as long as this lives.
#[derive(Debug)]
pub struct Watch {
    pool: PgPool,
    pools: Arc<Mutex<Vec<PgPool>>>,
    clock: Clock,
    tasks: [AbortHandle; 2],
}

impl Watch {
    /// The pool that it was started with.
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// Leads and trims another pool, too.
    pub fn lead(&self, pool: PgPool) {
        lock(&self.pools).push(pool);
    }

    /// The database's time.
    pub fn clock(&self) -> Clock {
        self.clock.clone()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.tasks.iter().for_each(AbortHandle::abort);
        outage::watch_ends();
    }
}

/// Watches a database, leads `pool` to the host that can write, closes what rests in it, and logs
/// when the database goes away and comes back.
pub fn watch(hosts: Hosts, pool: PgPool) -> Watch {
    let pools = Arc::new(Mutex::new(vec![pool.clone()]));
    let clock = Clock::default();
    outage::watch_begins();
    let watcher = Watcher {
        hosts,
        pools: Arc::clone(&pools),
        clock: clock.clone(),
        place: 0,
        conn: None,
        trouble: RepeatedFailure::in_turn(),
        scarce: RepeatedFailure::in_turn(),
        errors_before: 0,
    };
    let trimming = trim(Arc::clone(&pools));
    Watch {
        pool,
        pools,
        clock,
        tasks: [
            tokio::spawn(watcher.run()).abort_handle(),
            tokio::spawn(trimming).abort_handle(),
        ],
    }
}

struct Watcher {
    hosts: Hosts,
    pools: Arc<Mutex<Vec<PgPool>>>,
    clock: Clock,
    /// Which host can write, as far as it is known.
    place: usize,
    conn: Option<PgConnection>,
    /// Outages.
    trouble: RepeatedFailure,
    /// Times in which connections are scarce.
    scarce: RepeatedFailure,
    /// How many errors were counted before the outage.
    errors_before: u64,
}

impl Watcher {
    async fn run(mut self) {
        loop {
            if !self.look().await {
                self.conn = None;
                // Another host may be the one that can write now.
                match self.find().await {
                    Ok(()) => _ = self.look().await,
                    // The database is there.
                    Err(trouble) if trouble.is_full => connection_shortage::sign(),
                    Err(trouble) => self.tell(&trouble),
                }
            }
            if self.conn.is_some() && errors::take_pool_timed_out() {
                self.try_to_connect().await;
            }
            self.rest().await;
            sleep(EVERY).await;
        }
    }

    /// Whether the server can still write that could write at the last look.
    async fn look(&mut self) -> bool {
        let Some(conn) = &mut self.conn else {
            return false;
        };
        let asking = within_patience(async {
            connection_setup::prove(conn).await?;
            Ok((how_far_ahead(conn).await?, Room::ask(conn).await?))
        });
        let Ok((ahead, room)) = asking.await.inspect_err(count_error) else {
            return false;
        };
        connection_shortage::learn(room);
        self.clock.ahead.store(ahead, Ordering::Relaxed);
        #[expect(
            clippy::cast_precision_loss,
            reason = "a clock is at most some years off"
        )]
        gauge!("gatehouse_clock_offset_seconds").set(ahead as f64 / 1e6);
        true
    }

    /// Opens another connection, and counts the error if there is one: a pool that has no
    /// connection does not say why, for example that the server allows no more.
    async fn try_to_connect(&self) {
        let options = primary::named(&self.hosts.each()[self.place]);
        if let Err(error) = within_patience(connection_setup::open(&options)).await {
            count_error(&error);
            if connection_shortage::is_refusal(&error) {
                connection_shortage::sign();
            }
        }
    }

    /// Says once that connections are scarce, and hands back the own one meanwhile.
    async fn rest(&mut self) {
        let is_scarce = connection_shortage::is_scarce();
        gauge!("gatehouse_db_connections_scarce").set(if is_scarce { 1.0 } else { 0.0 });
        if !is_scarce {
            over!(
                self.scarce.worked(),
                "Postgres has connections to spare again"
            );
            return;
        }
        failed!(
            self.scarce.failed(),
            "Postgres has almost no free connections: all processes close those that they do not use, and are slower. Raise \
             max_connections of Postgres, or lower GATEHOUSE_DATABASE_CONNECTIONS"
        );
        if let Some(conn) = self.conn.take() {
            let _ = within_patience(conn.close()).await;
        }
    }

    /// Leads the pools to the host that can write.
    async fn find(&mut self) -> Result<(), Unreachable> {
        let (place, conn) = find(&self.hosts, self.place).await?;
        self.lead(place);
        self.conn = Some(conn);
        Ok(())
    }

    fn lead(&mut self, place: usize) {
        let options = &self.hosts.each()[place];
        let host = url::name(options);
        if place != self.place {
            info!(host, "another database host accepts writes now; using it");
            for pool in lock(&self.pools).iter() {
                pool.set_connect_options(named_alike(options, pool));
            }
            self.place = place;
        }
        if let Some(over) = self.trouble.worked() {
            outage::is_back();
            info!(
                host,
                away_for_seconds = over.seconds(),
                failed_statements = self.errors_meanwhile(),
                "the database is back"
            );
        }
    }

    /// Logs an outage for all parts of the process, at its beginning and at growing distance.
    fn tell(&mut self, trouble: &Unreachable) {
        outage::is_away();
        let Some(failing) = self.trouble.failed() else {
            debug!("{trouble}");
            return;
        };
        if failing.failures().is_none() {
            self.errors_before = errors::errors_so_far();
            warn!("{trouble}");
        } else {
            warn!(
                away_for_seconds = failing.seconds(),
                failed_statements = self.errors_meanwhile(),
                "{trouble}"
            );
        }
    }

    /// How many statements and connections of the process failed in this outage.
    fn errors_meanwhile(&self) -> u64 {
        errors::errors_so_far() - self.errors_before
    }
}

fn lock(pools: &Mutex<Vec<PgPool>>) -> MutexGuard<'_, Vec<PgPool>> {
    pools.lock().unwrap_or_else(PoisonError::into_inner)
}

fn named_alike(options: &PgConnectOptions, pool: &PgPool) -> PgConnectOptions {
    let options = options.clone();
    match pool.connect_options().get_application_name() {
        Some(name) => options.application_name(name),
        None => options,
    }
}

/// In microseconds. The server read its clock at some time between our two readings of our clock.
async fn how_far_ahead(conn: &mut PgConnection) -> Result<i64, sqlx::Error> {
    let asked = machine_micros();
    let row = sqlx::raw_sql("select (extract(epoch from clock_timestamp()) * 1000000)::bigint")
        .fetch_one(conn)
        .await?;
    let answered = machine_micros();
    let theirs: i64 = row.try_get(0)?;
    Ok(theirs - i64::midpoint(asked, answered))
}

/// The database's time. It is the same for all processes, while a machine's own clock may be wrong.
/// It is known from the last look of a [`Watch`]. Before the first look it is the
/// machine's time. All clones share one clock.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// How far the database's clock is ahead of this machine's, in microseconds.
    ahead: Arc<AtomicI64>,
}

impl Clock {
    /// Seconds since 1970.
    pub fn unix_seconds(&self) -> i64 {
        (machine_micros() + self.ahead.load(Ordering::Relaxed)).div_euclid(1_000_000)
    }
}

/// This machine's time, in microseconds since 1970.
fn machine_micros() -> i64 {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(now.as_micros()).unwrap_or(i64::MAX)
}
