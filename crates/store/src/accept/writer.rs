//! Writes one batch: waits out outages, finds out what a lost commit has stored, and lets a bad row
//! fail alone.
//!
//! A bad row fails alone, after its batch was split ([`Pieces`]), first by team. The writer waits
//! only for the end of an outage of Postgres, and only an outage refuses other submissions. While
//! somebody else has locked the usage of a team, its submissions wait apart ([`LockedTeams`]).

mod bad_row;
mod batch;
mod locked_teams;

use std::{collections::HashMap, sync::Arc, time::Duration};

use database::Trouble;
use domain::id::TeamId;
use metrics::{Histogram, histogram};
use queue::{Fault, Queue};
use sqlx::PgPool;
use telemetry::{failed, over};

use self::batch::BatchWrite;
pub(super) use self::{bad_row::spoiled, locked_teams::LockedTeams};
use super::{
    Acceptance, NewMedia,
    idempotency::{self, Request},
    insert::is_locked_out,
    routing::Routing,
};
use crate::{bisect::Pieces, gather::Call};

type Waiting = Call<NewMedia, Acceptance, TeamId>;

/// The pause between two tries while Postgres is away.
pub(super) const PAUSE: Duration = Duration::from_millis(100);

/// Batches that could not be stored, of all writers of this process.
static TROUBLE: Trouble = Trouble::at_once();

/// The least time for a piece of a batch after another piece was answered, however long its callers
/// have waited.
pub(super) const MOMENT: Duration = Duration::from_secs(2);

pub(super) async fn write(
    pool: PgPool,
    queue: Queue,
    patience: Duration,
    routing: Arc<Routing>,
    locked_teams: LockedTeams,
    batch: Vec<Waiting>,
) {
    let batch = locked_teams.sort_out(batch);
    if batch.is_empty() {
        return;
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "batches have a few hundred rows"
    )]
    rows().record(batch.len() as f64);
    let batch_write = BatchWrite::new(pool, queue, patience, routing);
    let deadline = batch_write.deadline_of(&batch);
    settle(batch_write.until(deadline), batch, Some(&locked_teams)).await;
}

/// Answers all of these. With `locked_teams`, teams whose usage is locked wait there. Without, they wait for the lock.
async fn settle(
    mut batch_write: BatchWrite,
    batch: Vec<Waiting>,
    locked_teams: Option<&LockedTeams>,
) {
    let mut pieces = Pieces::new(idempotency::gather(batch), team);
    while let Some(requests) = pieces.next() {
        match batch_write.store(&requests, locked_teams.is_none()).await {
            Ok(settled) => {
                let mut undecided = Vec::new();
                for request in requests {
                    match settled.get(&request.first.question.id) {
                        Some(acceptance) => undecided.extend(request.answer(*acceptance)),
                        None => request.into_calls().for_each(Call::give_up),
                    }
                }
                if !undecided.is_empty() {
                    pieces.push(idempotency::gather(undecided));
                }
                batch_write.answered();
                over!(TROUBLE.worked(), "submissions are stored again");
            }
            Err(error)
                if is_locked_out(&error)
                    && let Some(locked_teams) = locked_teams =>
            {
                wait_apart(&mut batch_write, &mut pieces, requests, locked_teams).await;
                // Postgres answers, so this is no outage.
                batch_write.answered();
            }
            Err(error) if Fault::of(&error) == Fault::Effect => {
                let (requests, answer) = spoiled(&error, &mut pieces, requests);
                for call in requests.into_iter().flat_map(Request::into_calls) {
                    call.answer(answer);
                }
                // Postgres answers, so this is no outage.
                batch_write.answered();
            }
            Err(error) => {
                let error = database::counted(error);
                failed!(TROUBLE.failed(&error), %error, rows = requests.len(), "could not store submissions");
                let calls = requests.into_iter().flat_map(Request::into_calls);
                match locked_teams {
                    Some(_) => calls.for_each(Call::give_up),
                    // Without an answer, only these callers are told to try again later.
                    None => calls.for_each(drop),
                }
            }
        }
    }
}

/// Teams whose usage is locked are written apart from now on. The others are tried again.
async fn wait_apart(
    batch_write: &mut BatchWrite,
    pieces: &mut Pieces<Request, TeamId>,
    requests: Vec<Request>,
    locked_teams: &LockedTeams,
) {
    let mut teams: Vec<TeamId> = requests.iter().map(team).collect();
    teams.sort_unstable();
    teams.dedup();
    let locked = match teams[..] {
        // It may also be the first row of a period, which nobody else can see yet.
        [_] => teams,
        _ => batch_write.locked(&teams).await.unwrap_or_default(),
    };
    if locked.is_empty() {
        // By now, the lock is gone; or else the search goes on.
        let _ = pieces.split(requests);
        return;
    }
    let mut others = Vec::new();
    let mut apart: HashMap<TeamId, Vec<Waiting>> = HashMap::new();
    for request in requests {
        if locked.contains(&team(&request)) {
            let calls = apart.entry(team(&request)).or_default();
            calls.extend(request.into_calls());
        } else {
            others.push(request);
        }
    }
    for (team, calls) in apart {
        locked_teams.begin(team, calls, batch_write.clone());
    }
    if !others.is_empty() {
        pieces.push(others);
    }
}

/// The rows of batches.
pub(super) fn rows() -> Histogram {
    histogram!("gatehouse_accept_batch_rows")
}

fn team(request: &Request) -> TeamId {
    request.first.question.site.team
}
