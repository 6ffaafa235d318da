//! Writing the pieces of one batch, through outages and lost commits.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::id::{MediaId, TeamId};
use queue::{Fault, Queue};
use sqlx::PgPool;
use tracing::warn;

use super::{MOMENT, PAUSE, Waiting};
use crate::accept::{
    Acceptance, NewMedia,
    insert::{self, Inserted},
    repetition::Request,
    ways::Ways,
};

/// How the pieces of one batch are written.
#[derive(Clone)]
pub(super) struct Writing {
    pool: PgPool,
    queue: Queue,
    patience: Duration,
    /// The same for all tries, so that what a lost commit has stored is known.
    ways: Arc<Ways>,
    /// When the writer stops waiting for the end of an outage: the first caller's patience ends
    /// then.
    deadline: Instant,
    /// Whether a connection broke. Then rows may be stored although nobody got an answer.
    in_doubt: bool,
}

impl Writing {
    pub(super) fn new(pool: PgPool, queue: Queue, patience: Duration, ways: Arc<Ways>) -> Self {
        Self {
            pool,
            queue,
            patience,
            ways,
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
            .unwrap_or_else(|_| Err(database::late(self.patience)))
    }

    /// Inserts, again and again while Postgres is away. When a connection breaks, it is not known
    /// whether the commit happened. The next insert then finds its own rows. It waits for the old
    /// transaction if that still runs. An insert that waits for a lock fails after a moment, and is
    /// tried again if it is to wait for locks.
    pub(super) async fn store(
        &mut self,
        requests: &[Request],
        waits_for_locks: bool,
    ) -> Result<HashMap<MediaId, Acceptance>, sqlx::Error> {
        let mut left: Vec<&NewMedia> = requests.iter().map(|r| &r.first.question).collect();
        let mut settled = HashMap::new();
        while !left.is_empty() {
            let inserted = match self.attempt(&left).await {
                Ok(inserted) => inserted,
                Err(error) if self.in_doubt && insert::is_own_row(&error) => {
                    let mut conn = self.pool.acquire().await?;
                    insert::existing(&mut conn, &left, &self.ways, &self.queue).await?
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
                    database::count_error(&error);
                    warn!(%error, rows = left.len(), "could not store submissions; trying again");
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

    async fn attempt(&self, media: &[&NewMedia]) -> Result<Inserted, sqlx::Error> {
        let inserting = async {
            let mut conn = self.pool.acquire().await?;
            insert::insert(&mut conn, media, &self.ways, &self.queue).await
        };
        tokio::time::timeout_at(self.deadline.into(), inserting)
            .await
            .unwrap_or_else(|_| Err(database::late(self.patience)))
    }
}
