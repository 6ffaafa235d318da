//! Writes one batch: waits out outages, finds out what a lost commit has stored, and lets a bad row fail alone.
//!
//! A row fails alone after its batch was split ([`Pieces`]), teams apart first. Only an outage of Postgres is waited out, and
//! only an outage turns others away.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::id::{MediaId, TeamId};
use metrics::histogram;
use queue::{Fault, Queue};
use sqlx::PgPool;
use tracing::{debug, error, warn};

use super::{
    Acceptance, NewMedia,
    insert::{self, Inserted},
    repetition::{self, Request},
    ways::Ways,
};
use crate::{
    gather::Call,
    isolate::{Pieces, Spoiled},
};

type Waiting = Call<NewMedia, Acceptance, TeamId>;

/// Between two tries while Postgres is away.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// What a piece of a batch gets at least after another one was answered, however long its callers have waited.
pub(super) const MOMENT: Duration = Duration::from_secs(2);

pub(super) async fn write(
    pool: PgPool,
    queue: Queue,
    patience: Duration,
    ways: Arc<Ways>,
    batch: Vec<Waiting>,
) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "batches have a few hundred rows"
    )]
    histogram!("gatehouse_accept_batch_rows").record(batch.len() as f64);
    let since = batch.iter().map(|call| call.since).min();
    let mut pieces = Pieces::new(repetition::gather(batch), team);
    let mut writing = Writing {
        pool,
        queue,
        patience,
        ways,
        deadline: since.unwrap_or_else(Instant::now) + patience,
        in_doubt: false,
    };
    while let Some(requests) = pieces.next() {
        match writing.store(&requests).await {
            Ok(settled) => {
                let mut undecided = Vec::new();
                for request in requests {
                    match settled.get(&request.first.question.id) {
                        Some(acceptance) => undecided.extend(request.answer(*acceptance)),
                        None => request.into_calls().for_each(Call::give_up),
                    }
                }
                if !undecided.is_empty() {
                    pieces.push(repetition::gather(undecided));
                }
                writing.answered();
            }
            Err(error) if Fault::of(&error) == Fault::Effect => {
                let (requests, answer) = spoiled(&error, &mut pieces, requests);
                for call in requests.into_iter().flat_map(Request::into_calls) {
                    call.answer(answer);
                }
                // Postgres answers, so this is no outage.
                writing.answered();
            }
            Err(error) => {
                error!(%error, rows = requests.len(), "could not store submissions");
                let calls = requests.into_iter().flat_map(Request::into_calls);
                calls.for_each(Call::give_up);
            }
        }
    }
}

fn team(request: &Request) -> TeamId {
    request.first.question.site.team
}

/// Splits what failed. Those that must not be tried again come back with their answer.
pub(super) fn spoiled<T>(
    error: &sqlx::Error,
    pieces: &mut Pieces<T, TeamId>,
    failed: Vec<T>,
) -> (Vec<T>, Acceptance) {
    let rows = failed.len();
    match pieces.split(failed) {
        None => {
            debug!(%error, rows, "a row makes its batch fail; splitting the batch to find it");
            (Vec::new(), Acceptance::Untried)
        }
        Some(Spoiled::Row(row)) => {
            let answer = verdict_on(error);
            error!(%error, "could not store a submission; it is answered with {answer:?}");
            (vec![row], answer)
        }
        Some(Spoiled::Rest(rest)) => {
            error!(%error, rows, "did not try some submissions one by one, because too many of their team failed");
            (rest, Acceptance::Untried)
        }
    }
}

/// What a row is told with which Postgres fails whenever it is alone. Bad values (class 22), broken constraints (class 23)
/// and values beyond a limit of Postgres (class 54) are the submission's; anything else is ours.
fn verdict_on(error: &sqlx::Error) -> Acceptance {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    let is_of_values = code.is_some_and(|code| {
        ["22", "23", "54"]
            .iter()
            .any(|class| code.starts_with(class))
    });
    if is_of_values {
        Acceptance::Refused
    } else {
        Acceptance::Failed
    }
}

/// How the pieces of one batch are written.
struct Writing {
    pool: PgPool,
    queue: Queue,
    patience: Duration,
    /// The same for all tries, so that what a lost commit has stored is known.
    ways: Arc<Ways>,
    /// Until when an outage is waited out: the caller that came first has waited for so long then.
    deadline: Instant,
    /// Whether a connection broke, so that rows may be stored that nobody was told of.
    in_doubt: bool,
}

impl Writing {
    /// Inserts, again and again while Postgres is away. When a connection breaks nobody knows whether the commit
    /// happened; the next insert then meets its own rows, waiting for the old transaction if it still runs.
    async fn store(
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

    /// Postgres has answered, so this is no outage: what is left of the batch gets another moment, at least.
    fn answered(&mut self) {
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
