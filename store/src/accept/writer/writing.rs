//! Writing the pieces of one batch, through outages and lost commits.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::id::MediaId;
use queue::{Fault, Queue};
use sqlx::PgPool;
use tracing::warn;

use super::{MOMENT, PAUSE};
use crate::accept::{
    Acceptance, NewMedia,
    insert::{self, Inserted},
    repetition::Request,
    ways::Ways,
};

/// How the pieces of one batch are written.
pub(super) struct Writing {
    pub(super) pool: PgPool,
    pub(super) queue: Queue,
    pub(super) patience: Duration,
    /// The same for all tries, so that what a lost commit has stored is known.
    pub(super) ways: Arc<Ways>,
    /// When the writer stops waiting for the end of an outage: the first caller's patience ends
    /// then.
    pub(super) deadline: Instant,
    /// Whether a connection broke. Then rows may be stored although nobody got an answer.
    pub(super) in_doubt: bool,
}

impl Writing {
    /// Inserts, again and again while Postgres is away. When a connection breaks, it is not known
    /// whether the commit happened. The next insert then finds its own rows. It waits for the old
    /// transaction if that still runs.
    pub(super) async fn store(
        &mut self,
        requests: &[Request],
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

    pub(super) async fn attempt(&self, media: &[&NewMedia]) -> Result<Inserted, sqlx::Error> {
        let inserting = async {
            let mut conn = self.pool.acquire().await?;
            insert::insert(&mut conn, media, &self.ways, &self.queue).await
        };
        tokio::time::timeout_at(self.deadline.into(), inserting)
            .await
            .unwrap_or_else(|_| Err(database::late(self.patience)))
    }
}
