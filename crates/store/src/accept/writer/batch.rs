//! Writes the pieces of one batch, through outages and lost commits.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::id::{MediaId, TeamId};
use queue::{Fault, Queue};
use sqlx::PgPool;
use telemetry::failed;

use super::{MOMENT, PAUSE, TROUBLE, Waiting};
use crate::accept::{
    Acceptance, NewMedia,
    idempotency::Request,
    insert::{self, Inserted},
    routing::Routing,
};

/// How long a statement with submissions of several teams waits for a lock. Other processes hold the
/// locks that it needs for a commit, which takes milliseconds.
const LOCKS: &str = "1s";

/// How long it waits with submissions of one team that wait apart: as long as any other statement.
const LOCKS_APART: &str = "10s";

/// How the pieces of one batch are written.
#[derive(Clone)]
pub(super) struct BatchWrite {
    pool: PgPool,
    queue: Queue,
    patience: Duration,
    /// The same for all tries, so that what a lost commit has stored is known.
    routing: Arc<Routing>,
    /// When the writer stops waiting for the end of an outage: the first caller's patience ends
    /// then.
    deadline: Instant,
    /// Whether a connection broke. Then rows may be stored although nobody got an answer.
    in_doubt: bool,
}

impl BatchWrite {
    pub(super) fn new(
        pool: PgPool,
        queue: Queue,
        patience: Duration,
        routing: Arc<Routing>,
    ) -> Self {
        Self {
            pool,
            queue,
            patience,
            routing,
            deadline: Instant::now() + patience,
            in_doubt: false,
        }
    }

    /// When the first of these callers has waited long enough.
    pub(super) fn deadline_of(&self, batch: &[Waiting]) -> Instant {
        let since = batch.iter().map(|call| call.since).min();
        since.unwrap_or_else(Instant::now) + self.patience
    }

    /// The same with another deadline.
    pub(super) fn until(&self, deadline: Instant) -> Self {
        Self {
            deadline,
            ..self.clone()
        }
    }

    /// Those of these teams whose usage somebody else has locked.
    pub(super) async fn locked(&self, teams: &[TeamId]) -> Result<Vec<TeamId>, sqlx::Error> {
        let asking = async {
            let mut conn = self.pool.acquire().await?;
            insert::locked(&mut conn, teams).await
        };
        tokio::time::timeout_at(self.deadline.into(), asking)
            .await
            .unwrap_or_else(|_| Err(database::deadline_exceeded(self.patience)))
    }

    /// Inserts, again and again while Postgres is away. When a connection breaks, it is not known
    /// whether the commit happened. The next insert then finds its own rows. It waits for the old
    /// transaction if that still runs. An insert that does not wait for locks fails if it would wait
    /// for longer than a moment.
    pub(super) async fn store(
        &mut self,
        requests: &[Request],
        waits_for_locks: bool,
    ) -> Result<HashMap<MediaId, Acceptance>, sqlx::Error> {
        let mut left: Vec<&NewMedia> = requests.iter().map(|r| &r.first.question).collect();
        let mut settled = HashMap::new();
        while !left.is_empty() {
            let inserted = match self.attempt(&left, waits_for_locks).await {
                Ok(inserted) => inserted,
                Err(error) if self.in_doubt && insert::is_own_row(&error) => {
                    let mut conn = self.pool.acquire().await?;
                    insert::existing(&mut conn, &left, &self.routing, &self.queue).await?
                }
                Err(error) if insert::is_race(&error) && Instant::now() < self.deadline => continue,
                Err(error) if insert::is_locked_out(&error) && !waits_for_locks => {
                    return Err(error);
                }
                Err(error)
                    if Fault::of(&error) == Fault::Effect
                        || Instant::now() + PAUSE > self.deadline =>
                {
                    return Err(error);
                }
                Err(error) => {
                    let error = database::counted(error);
                    failed!(TROUBLE.failed(&error), %error, rows = left.len(), "could not store submissions; trying again");
                    self.in_doubt = true;
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            let Inserted {
                settled: certain,
                expired,
            } = inserted;
            settled.extend(certain);
            left.retain(|media| !settled.contains_key(&media.id));
            if !expired.is_empty() {
                let mut conn = self.pool.acquire().await?;
                insert::forget_expired(&mut conn, &left).await?;
            }
        }
        Ok(settled)
    }

    /// Postgres has answered, so this is no outage: the rest of the batch gets at least another
    /// moment.
    pub(super) fn answered(&mut self) {
        self.deadline = self.deadline.max(Instant::now() + MOMENT);
    }

    async fn attempt(
        &self,
        media: &[&NewMedia],
        waits_for_locks: bool,
    ) -> Result<Inserted, sqlx::Error> {
        let lock_timeout = if waits_for_locks { LOCKS_APART } else { LOCKS };
        let inserting = async {
            let mut conn = self.pool.acquire().await?;
            insert::insert(&mut conn, media, &self.routing, &self.queue, lock_timeout).await
        };
        tokio::time::timeout_at(self.deadline.into(), inserting)
            .await
            .unwrap_or_else(|_| Err(database::deadline_exceeded(self.patience)))
    }
}
