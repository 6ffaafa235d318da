//! Writes one batch: waits out outages, finds out what a lost commit has stored, and lets a bad row
//! fail alone.
//!
//! A bad row fails alone, after its batch was split ([`Pieces`]), first by team. The writer waits
//! only for the end of an outage of Postgres, and only an outage refuses other submissions. While
//! somebody else has locked the usage of a team, its submissions wait apart ([`LockedTeams`]).

mod locked_teams;

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use database::Trouble;
use domain::id::{MediaId, TeamId};
use metrics::{Histogram, histogram};
use queue::{Fault, Queue};
use sqlx::PgPool;
use telemetry::{failed, over};
use tracing::{debug, error};

pub(super) use self::locked_teams::LockedTeams;
use self::locked_teams::{is_locked_out, locked};
use super::{
    Acceptance, NewMedia,
    repetitions::{self, Request},
    routing::Routing,
};
use crate::{
    accept::insert::{self, Inserted},
    bisect::{Pieces, Spoiled},
    gather::Call,
};

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
    let mut pieces = Pieces::new(repetitions::gather(batch), team);
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
                    pieces.push(repetitions::gather(undecided));
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

/// Splits what failed. Those that must not be tried again come back with their answer.
pub(super) fn spoiled<T>(
    refused: &sqlx::Error,
    pieces: &mut Pieces<T, TeamId>,
    failed: Vec<T>,
) -> (Vec<T>, Acceptance) {
    database::count_error(refused);
    let error = database::error_message(refused);
    let rows = failed.len();
    match pieces.split(failed) {
        None => {
            debug!(%error, rows, "a row makes its batch fail; splitting the batch to find it");
            (Vec::new(), Acceptance::Untried)
        }
        Some(Spoiled::Row(row)) => {
            let answer = verdict_on(refused);
            error!(%error, "could not store a submission; it is answered with {answer:?}");
            (vec![row], answer)
        }
        Some(Spoiled::Rest(rest)) => {
            error!(%error, rows, "did not try some submissions one by one, because too many of their team failed");
            (rest, Acceptance::Untried)
        }
    }
}

/// The answer to a row on which Postgres fails even when it is alone. Bad values (class 22),
/// violated constraints (class 23) and values beyond a limit of Postgres (class 54) are the
/// submission's fault. Anything else is our fault.
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

/// How long a statement with submissions of several teams waits for a lock. Other processes hold the
/// locks that it needs for a commit, which takes milliseconds.
const LOCKS: &str = "1s";

/// How long it waits with submissions of one team that wait apart: as long as any other statement.
const LOCKS_APART: &str = "10s";

/// How the pieces of one batch are written.
#[derive(Clone)]
struct BatchWrite {
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
    fn new(pool: PgPool, queue: Queue, patience: Duration, routing: Arc<Routing>) -> Self {
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
    fn deadline_of(&self, batch: &[Waiting]) -> Instant {
        let since = batch.iter().map(|call| call.since).min();
        since.unwrap_or_else(Instant::now) + self.patience
    }

    /// The same with another deadline.
    fn until(&self, deadline: Instant) -> Self {
        Self {
            deadline,
            ..self.clone()
        }
    }

    /// Those of these teams whose usage somebody else has locked.
    async fn locked(&self, teams: &[TeamId]) -> Result<Vec<TeamId>, sqlx::Error> {
        let asking = async {
            let mut conn = self.pool.acquire().await?;
            locked(&mut conn, teams).await
        };
        tokio::time::timeout_at(self.deadline.into(), asking)
            .await
            .unwrap_or_else(|_| Err(database::deadline_exceeded(self.patience)))
    }

    /// Inserts, again and again while Postgres is away. When a connection breaks, it is not known
    /// whether the commit happened. The next insert then finds its own rows. It waits for the old
    /// transaction if that still runs. An insert that does not wait for locks fails if it would wait
    /// for longer than a moment.
    async fn store(
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
                Err(error) if is_locked_out(&error) && !waits_for_locks => {
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
    fn answered(&mut self) {
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
