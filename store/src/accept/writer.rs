//! Writes one batch: waits out outages, finds out what a lost commit has stored, and lets one bad row fail alone.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use domain::id::MediaId;
use metrics::histogram;
use queue::Queue;
use sqlx::PgPool;
use tracing::{error, warn};

use super::{Acceptance, NewMedia, Stored, existing, insert, jobs_of, rejection::Rejection};
use crate::gather::Call;

type Waiting = Call<NewMedia, Acceptance>;

const PAUSE: Duration = Duration::from_millis(100);

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
        match store(&pool, &queue, &batch, deadline).await {
            Ok(stored) => {
                for call in batch {
                    let accepted = stored.contains(&call.question.id);
                    call.answer(if accepted {
                        Acceptance::Accepted
                    } else {
                        Acceptance::Stale
                    });
                }
            }
            Err(error) if is_the_rows_fault(&error) && batch.len() > 1 => {
                warn!(%error, rows = batch.len(), "a row spoils its batch; each goes alone");
                stack.extend(batch.into_iter().map(|call| vec![call]));
            }
            Err(error) => {
                let (answer, rejection) = if is_the_rows_fault(&error) {
                    (Acceptance::Refused, Rejection::Refused)
                } else {
                    (Acceptance::Unavailable, Rejection::Unavailable)
                };
                error!(%error, rows = batch.len(), "submissions could not be stored");
                rejection.count(batch.len());
                for call in batch {
                    call.answer(answer);
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
    batch: &[Waiting],
    deadline: Instant,
) -> Result<HashSet<MediaId>, sqlx::Error> {
    let mut left: Vec<&NewMedia> = batch.iter().map(|call| &call.question).collect();
    let mut stored = HashSet::new();
    let mut in_doubt = false;
    loop {
        match attempt(pool, &left, deadline).await {
            Ok(Stored { media, jobs }) => {
                queue.enqueued(&jobs);
                stored.extend(media);
                return Ok(stored);
            }
            Err(error) if in_doubt && is_own_row(&error) => {
                let mut conn = pool.acquire().await?;
                let found = existing(&mut conn, &left).await?;
                queue.enqueued(&jobs_of(&left, &found));
                stored.extend(found);
                left.retain(|media| !stored.contains(&media.id));
                if left.is_empty() {
                    return Ok(stored);
                }
            }
            Err(error) if is_the_rows_fault(&error) || Instant::now() + PAUSE > deadline => {
                return Err(error);
            }
            Err(error) => {
                warn!(%error, rows = left.len(), "storing submissions failed, trying again");
                in_doubt = true;
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

async fn attempt(
    pool: &PgPool,
    media: &[&NewMedia],
    deadline: Instant,
) -> Result<Stored, sqlx::Error> {
    let inserting = async {
        let mut conn = pool.acquire().await?;
        insert(&mut conn, media).await
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

fn is_own_row(error: &sqlx::Error) -> bool {
    error
        .as_database_error()
        .and_then(|error| error.constraint())
        == Some("media_pkey")
}
