//! Writes one batch: waits out outages, finds out what a lost commit has stored, and lets one bad row fail alone.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use domain::id::{MediaId, TeamId};
use metrics::histogram;
use queue::Queue;
use sqlx::PgPool;
use tracing::{error, warn};

use super::{
    Acceptance, NewMedia,
    insert::{self, Inserted},
    repetition::{self, Request},
};
use crate::gather::Call;

type Waiting = Call<NewMedia, Acceptance, TeamId>;

/// Between two tries while Postgres is away.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

pub(super) async fn write(pool: PgPool, queue: Queue, patience: Duration, batch: Vec<Waiting>) {
    #[expect(
        clippy::cast_precision_loss,
        reason = "batches have a few hundred rows"
    )]
    histogram!("gatehouse_accept_batch_rows").record(batch.len() as f64);
    let deadline = Instant::now() + patience;
    // A stack: a batch that a row spoils is replaced by its rows, each on its own.
    let mut stack = vec![batch];
    while let Some(batch) = stack.pop() {
        let requests = repetition::gather(batch);
        match store(&pool, &queue, &requests, deadline).await {
            Ok(settled) => {
                let mut undecided = Vec::new();
                for request in requests {
                    match settled.get(&request.first.question.id) {
                        Some(acceptance) => undecided.extend(request.answer(*acceptance)),
                        None => request.into_calls().for_each(Call::give_up),
                    }
                }
                if !undecided.is_empty() {
                    stack.push(undecided);
                }
            }
            Err(error) if is_the_rows_fault(&error) && requests.len() > 1 => {
                warn!(%error, rows = requests.len(), "a row spoils its batch; each goes alone");
                stack.extend(
                    requests
                        .into_iter()
                        .map(|request| request.into_calls().collect()),
                );
            }
            Err(error) => {
                error!(%error, rows = requests.len(), "submissions could not be stored");
                for call in requests.into_iter().flat_map(Request::into_calls) {
                    if is_the_rows_fault(&error) {
                        call.answer(Acceptance::Refused);
                    } else {
                        call.give_up();
                    }
                }
            }
        }
    }
}

/// Inserts, again and again while Postgres is away. When a connection breaks nobody knows whether the commit
/// happened; the next insert then meets its own rows, waiting for the old transaction if it still runs.
async fn store(
    pool: &PgPool,
    queue: &Queue,
    requests: &[Request],
    deadline: Instant,
) -> Result<HashMap<MediaId, Acceptance>, sqlx::Error> {
    let mut left: Vec<&NewMedia> = requests.iter().map(|r| &r.first.question).collect();
    let mut settled = HashMap::new();
    let mut in_doubt = false;
    while !left.is_empty() {
        let inserted = match attempt(pool, &left, deadline).await {
            Ok(inserted) => inserted,
            Err(error) if in_doubt && insert::is_own_row(&error) => {
                let mut conn = pool.acquire().await?;
                insert::existing(&mut conn, &left).await?
            }
            Err(error) if insert::is_race(&error) && Instant::now() < deadline => continue,
            Err(error) if is_the_rows_fault(&error) || Instant::now() + PAUSE > deadline => {
                return Err(error);
            }
            Err(error) => {
                warn!(%error, rows = left.len(), "storing submissions failed, trying again");
                in_doubt = true;
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Inserted {
            settled: certain,
            expired,
            jobs,
        } = inserted;
        queue.enqueued(&jobs);
        settled.extend(certain);
        left.retain(|media| !settled.contains_key(&media.id));
        if !expired.is_empty() {
            let mut conn = pool.acquire().await?;
            insert::forget_expired(&mut conn, &left).await?;
        }
    }
    Ok(settled)
}

async fn attempt(
    pool: &PgPool,
    media: &[&NewMedia],
    deadline: Instant,
) -> Result<Inserted, sqlx::Error> {
    let inserting = async {
        let mut conn = pool.acquire().await?;
        insert::insert(&mut conn, media).await
    };
    tokio::time::timeout_at(deadline.into(), inserting)
        .await
        .unwrap_or(Err(sqlx::Error::PoolTimedOut))
}

/// Data exceptions (class 22) and broken constraints (class 23) come from a row; everything else is the system's.
fn is_the_rows_fault(error: &sqlx::Error) -> bool {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| code.starts_with("22") || code.starts_with("23"))
}
