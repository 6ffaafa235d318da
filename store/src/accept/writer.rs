//! Writes one batch: waits out outages, finds out what a lost commit has stored, and lets a bad row
//! fail alone.
//!
//! A bad row fails alone, after its batch was split ([`Pieces`]), first by team. The writer waits
//! only for the end of an outage of Postgres, and only an outage refuses other submissions.

mod bad_row;
mod writing;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::id::TeamId;
use metrics::{Histogram, histogram};
use queue::{Fault, Queue};
use sqlx::PgPool;
use tracing::error;

pub(super) use self::bad_row::spoiled;
use self::writing::Writing;
use super::{
    Acceptance, NewMedia,
    repetition::{self, Request},
    ways::Ways,
};
use crate::{gather::Call, isolate::Pieces};

type Waiting = Call<NewMedia, Acceptance, TeamId>;

/// The pause between two tries while Postgres is away.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// The least time for a piece of a batch after another piece was answered, however long its callers
/// have waited.
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
    rows().record(batch.len() as f64);
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
                database::count_error(&error);
                error!(%error, rows = requests.len(), "could not store submissions");
                let calls = requests.into_iter().flat_map(Request::into_calls);
                calls.for_each(Call::give_up);
            }
        }
    }
}

/// The rows of batches.
pub(super) fn rows() -> Histogram {
    histogram!("gatehouse_accept_batch_rows")
}

fn team(request: &Request) -> TeamId {
    request.first.question.site.team
}
