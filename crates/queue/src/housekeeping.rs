//! What one process does for all: rescue, promotion of late jobs, retention, generations,
//! statistics.
//!
//! The oldest live worker, by the database's clock, is the housekeeper. There is no vote: each
//! worker looks whether it comes first among the rows of `queue.workers` that have not expired. A
//! stalled process may wake up and still believe that it is first. So every duty is safe if two
//! processes do it at once, and nothing depends on there being only one.
//!
//! While the housekeeper lives, nobody else does this work, so nothing here may hang. It has a
//! connection of its own, every statement and every duty has a time limit, and a failing duty does
//! not stop the others.
//!
//! A worker that was killed still counts as live until its lease ends. If all processes are killed
//! again and again, sooner than a lease ends, none is ever the oldest. So each process does the
//! duties once when it starts.
//!
//! The second oldest worker also publishes the statistics. So they continue when the housekeeper
//! dies, which shows only when its lease has ended.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use database::Trouble;
use sqlx::PgConnection;
use telemetry::{failed, over};
use tokio::time::timeout;
use tracing::{info, warn};
use uuid::Uuid;

use crate::{
    Config, dead_jobs,
    dedicated_connection::DedicatedConnection,
    depth::Gauges,
    generations::{self, Collector},
    promote, rescue,
    shared::Shared,
};

/// After so many readings that failed, the numbers of the last one are not shown any more.
const MISSED_READINGS: u32 = 3;
/// How often dead jobs past their retention are deleted.
const PURGE: Duration = Duration::from_mins(1);
/// The most dead jobs deleted by one statement, and the most statements each time.
const PURGED_AT_ONCE: u32 = 1000;
const PURGES: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Duty {
    /// Takes jobs from dead workers.
    Rescue,
    /// Promotes jobs that were committed after they were due.
    Promote,
    /// Removes rows that have no meaning any more.
    Tidy,
    /// Leaves generations behind.
    Generations,
    /// Looks for jobs that no claim can see.
    Unseen,
    /// Publishes the queues' depth.
    Gauges,
    /// Deletes dead jobs past their retention.
    Purge,
}

impl Duty {
    const ALL: [Self; 7] = [
        Self::Rescue,
        Self::Promote,
        Self::Tidy,
        Self::Generations,
        Self::Unseen,
        Self::Gauges,
        Self::Purge,
    ];

    /// How often; `None` for a duty that is done once after each election.
    const fn period(self, config: &Config) -> Option<Duration> {
        match self {
            Self::Rescue | Self::Promote | Self::Tidy => Some(config.sweep),
            Self::Generations => Some(config.tick),
            Self::Unseen => None,
            Self::Gauges => Some(config.stats),
            Self::Purge => Some(PURGE),
        }
    }
}

/// What a process knows of its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Ranked(Rank),
    /// Two others are older.
    Outranked,
    /// Its lease has ended, for example because the database is away.
    Unknown,
}

/// The rank of a process among the live workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    /// The housekeeper, who has all duties.
    Eldest,
    /// Only publishes statistics.
    Next,
    /// Has just started: all duties but the statistics, once.
    Newcomer,
}

impl Rank {
    fn has(self, duty: Duty) -> bool {
        match self {
            Self::Eldest => true,
            Self::Next => duty == Duty::Gauges,
            Self::Newcomer => duty != Duty::Gauges,
        }
    }
}

/// The state of a process that has duties.
struct House {
    rank: Rank,
    /// When each duty was last begun. All are due when a process becomes the housekeeper.
    begun: [(Duty, Option<Instant>); Duty::ALL.len()],
    collector: Collector,
    gauges: Gauges,
    trouble: [Trouble; Duty::ALL.len()],
}

/// Does the housekeeping until the queue closes.
pub(crate) async fn run(shared: Arc<Shared>) {
    let mut connection = DedicatedConnection::with_settings(&shared.pool, settings(&shared.config));
    let mut newcomer = House::new(Rank::Newcomer, Gauges::default());
    tokio::select! {
        () = shared.stopping.cancelled() => return,
        () = newcomer.keep(&shared, &mut connection) => {}
    }
    let mut house: Option<House> = None;
    let trouble = Trouble::in_turn();
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = round(&shared, &mut connection, &mut house, &trouble) => {}
        }
        let is_eldest = house
            .as_ref()
            .is_some_and(|house| house.rank == Rank::Eldest);
        let wait = if is_eldest || !shared.lease.is_held() {
            shared.config.tick.min(shared.config.sweep)
        } else {
            shared.config.sweep
        };
        if shared.pause(wait).await {
            return;
        }
    }
}

/// The settings of our connection. Nothing takes longer than the deadline: no statement, no lock,
/// and no process that stopped within a transaction. Plans do not depend on the size of tables,
/// because a plan made for an empty queue is also used for a full one. Rows are read, not only
/// their index entries, so that what Postgres counts as found was really found.
fn settings(config: &Config) -> String {
    let deadline = config.deadline.as_millis();
    format!(
        "set statement_timeout = {deadline}; set lock_timeout = {deadline};
         set idle_in_transaction_session_timeout = {deadline};
         set default_transaction_isolation = 'read committed';
         set enable_seqscan = off; set enable_bitmapscan = off; set enable_indexonlyscan = off; set jit = off"
    )
}

async fn round(
    shared: &Shared,
    connection: &mut DedicatedConnection,
    house: &mut Option<House>,
    trouble: &Trouble,
) {
    let standing = rank(shared, connection).await;
    if matches!(standing, Ok(Standing::Ranked(_) | Standing::Outranked)) {
        over!(trouble.worked(), "the elected housekeeper is known again");
    }
    match standing {
        Ok(Standing::Ranked(rank)) => {
            shared.reports.store(true, Ordering::Relaxed);
            if house.as_ref().is_none_or(|house| house.rank != rank) {
                if rank == Rank::Eldest {
                    info!(worker = %shared.worker, "this process now does the housekeeping of the queue");
                }
                let gauges = house
                    .take()
                    .map_or_else(Gauges::default, |house| house.gauges);
                *house = Some(House::new(rank, gauges));
            }
            if let Some(house) = house {
                house.keep(shared, connection).await;
            }
        }
        Ok(Standing::Outranked) => {
            shared.reports.store(false, Ordering::Relaxed);
            if let Some(mut house) = house.take() {
                house.gauges.forget();
            }
        }
        Ok(Standing::Unknown) => {}
        Err(error) => {
            let error = database::counted(error);
            connection.give_up();
            failed!(trouble.failed(&error), %error, "cannot determine the elected housekeeper");
        }
    }
    if let Some(house) = house {
        house.gauges.expire(shared.config.stats * MISSED_READINGS);
    }
}

impl House {
    fn new(rank: Rank, gauges: Gauges) -> Self {
        Self {
            rank,
            begun: Duty::ALL.map(|duty| (duty, None)),
            collector: Collector::default(),
            gauges,
            trouble: Duty::ALL.map(|_| Trouble::in_turn()),
        }
    }

    /// Does all duties that are due.
    async fn keep(&mut self, shared: &Shared, connection: &mut DedicatedConnection) {
        // Twice the limit of a statement, because a duty may run several batches.
        let patience = shared.config.deadline * 2;
        for place in 0..self.begun.len() {
            let (duty, begun) = self.begun[place];
            let is_due = begun.is_none_or(|begun| {
                let period = duty.period(&shared.config);
                period.is_some_and(|period| begun.elapsed() >= period)
            });
            if !is_due || !self.rank.has(duty) {
                continue;
            }
            self.begun[place].1 = Some(Instant::now());
            let done = timeout(patience, async {
                self.perform(duty, shared, connection.get().await?).await
            })
            .await;
            let done = done
                .unwrap_or_else(|_| Err(database::deadline_exceeded(patience)))
                .map_err(database::counted);
            let trouble = &self.trouble[place];
            match done {
                Ok(()) => over!(
                    trouble.worked(),
                    ?duty,
                    "a duty of housekeeping is done again"
                ),
                Err(error) => {
                    connection.give_up();
                    failed!(
                        trouble.failed(&error),
                        %error,
                        ?duty,
                        "a duty of housekeeping failed; trying again later"
                    );
                }
            }
        }
    }

    async fn perform(
        &mut self,
        duty: Duty,
        shared: &Shared,
        conn: &mut PgConnection,
    ) -> Result<(), sqlx::Error> {
        match duty {
            Duty::Rescue => rescue::rescue(conn, shared).await,
            Duty::Promote => promote::promote_late(conn, shared).await,
            Duty::Tidy => tidy(conn).await,
            Duty::Generations => {
                if self.collector.round(conn).await? {
                    shared.wake_all_known();
                }
                Ok(())
            }
            Duty::Unseen => {
                let jobs = generations::gather_unreachable(conn).await?;
                if jobs > 0 {
                    warn!(
                        jobs,
                        "found jobs that claims could not see, and made them visible again"
                    );
                    shared.wake_all_known();
                }
                Ok(())
            }
            Duty::Gauges => self.gauges.publish(conn, shared).await,
            Duty::Purge => purge(conn, shared.config.dead_retention).await,
        }
    }
}

async fn rank(
    shared: &Shared,
    connection: &mut DedicatedConnection,
) -> Result<Standing, sqlx::Error> {
    if !shared.lease.is_held() {
        return Ok(Standing::Unknown);
    }
    let eldest = async {
        sqlx::query_scalar!(
            "select id from queue.workers where expires_at > now() order by started_at, id limit 2"
        )
        .fetch_all(connection.get().await?)
        .await
    };
    let eldest: Vec<Uuid> = timeout(shared.config.deadline, eldest)
        .await
        .map_err(|_| database::deadline_exceeded(shared.config.deadline))??;
    Ok(match eldest.iter().position(|id| *id == shared.worker) {
        Some(0) => Standing::Ranked(Rank::Eldest),
        Some(_) => Standing::Ranked(Rank::Next),
        None => Standing::Outranked,
    })
}

/// Removes rows that have no meaning any more: workers whose lease has ended, and pauses that are
/// over. Skips locked rows.
async fn tidy(conn: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from queue.workers
          where id in (select id from queue.workers where expires_at <= now() for update skip locked)"
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from queue.lanes
          where (queue, lane) in (select queue, lane from queue.lanes
                                   where cap is null and coalesce(paused_until, '-infinity') <= now()
                                     for update skip locked)"
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(
        "delete from queue.queues
          where queue in (select queue from queue.queues where paused_until <= now() for update skip locked)"
    )
    .execute(conn)
    .await?;
    Ok(())
}

async fn purge(conn: &mut PgConnection, age: Duration) -> Result<(), sqlx::Error> {
    for _ in 0..PURGES {
        let purged = dead_jobs::purge(conn, age, PURGED_AT_ONCE).await?;
        if purged > 0 {
            info!(jobs = purged, "deleted dead jobs past their retention");
        }
        if purged < u64::from(PURGED_AT_ONCE) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
