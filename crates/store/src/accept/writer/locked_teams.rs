//! Teams whose usage somebody else has locked: an operator or a tool with an open transaction. Their submissions wait here, so that
//! those of other teams do not wait with them.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::id::TeamId;
use sqlx::PgConnection;
use tokio::sync::Semaphore;
use tracing::warn;
use uuid::Uuid;

use super::{BatchWrite, Waiting, settle};

/// Teams that are written at the same time. Each holds a connection while it waits.
const TEAMS: usize = 2;

/// Submissions of a team that wait here. More are refused.
const MOST: usize = 1_024;

/// Submissions that one statement stores.
const BATCH: usize = 256;

/// The submissions of the teams that wait.
#[derive(Clone)]
pub(in crate::accept) struct LockedTeams {
    teams: Arc<Mutex<HashMap<TeamId, Vec<Waiting>>>>,
    slots: Arc<Semaphore>,
}

impl LockedTeams {
    pub(in crate::accept) fn new() -> Self {
        Self {
            teams: Arc::default(),
            slots: Arc::new(Semaphore::new(TEAMS)),
        }
    }

    /// Takes those of a batch whose teams wait already, and returns the others.
    pub(super) fn sort_out(&self, batch: Vec<Waiting>) -> Vec<Waiting> {
        let mut teams = self.lock();
        if teams.is_empty() {
            return batch;
        }
        let mut others = Vec::new();
        for call in batch {
            match teams.get_mut(&call.question.site.team) {
                Some(waiting) if waiting.len() < MOST => waiting.push(call),
                // Without an answer, its caller is told to try again later.
                Some(_) => drop(call),
                None => others.push(call),
            }
        }
        others
    }

    /// Writes these submissions of one team apart from those of others, and what comes meanwhile.
    pub(super) fn begin(&self, team: TeamId, calls: Vec<Waiting>, batch_write: BatchWrite) {
        match self.lock().entry(team) {
            Entry::Occupied(mut others) => others.get_mut().extend(calls),
            Entry::Vacant(place) => {
                place.insert(calls);
                warn!(team.id = %team, "the usage of a team is locked by somebody else; its submissions wait apart from others");
                let turn = Turn {
                    locked_teams: self.clone(),
                    team,
                    is_over: false,
                };
                tokio::spawn(turn.run(batch_write));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TeamId, Vec<Waiting>>> {
        self.teams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task of a team.
struct Turn {
    locked_teams: LockedTeams,
    team: TeamId,
    /// Whether the team is written with the others again.
    is_over: bool,
}

impl Turn {
    async fn run(mut self, batch_write: BatchWrite) {
        while let Some(calls) = self.next() {
            let deadline = batch_write.deadline_of(&calls);
            let slot = self.locked_teams.slots.acquire();
            let Ok(Ok(_slot)) = tokio::time::timeout_at(deadline.into(), slot).await else {
                continue;
            };
            settle(batch_write.until(deadline), calls, None).await;
        }
    }

    /// The next submissions. None: the team is written with the others again.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        let mut teams = self.locked_teams.lock();
        let waiting = teams.get_mut(&self.team)?;
        waiting.retain(|call| !call.is_over());
        if waiting.is_empty() {
            teams.remove(&self.team);
            self.is_over = true;
            return None;
        }
        let many = waiting.len().min(BATCH);
        Some(waiting.drain(..many).collect())
    }
}

impl Drop for Turn {
    /// Also if the task panics. What it has not written gets no answer.
    fn drop(&mut self) {
        if !self.is_over {
            self.locked_teams.lock().remove(&self.team);
        }
    }
}

/// Whether a statement has waited too long for a lock. SQLSTATE 55P03, `lock_not_available`.
pub(super) fn is_locked_out(error: &sqlx::Error) -> bool {
    let code = error
        .as_database_error()
        .and_then(sqlx::error::DatabaseError::code);
    code.is_some_and(|code| code == "55P03")
}

/// Those of these teams of whose usage a row is locked now.
pub(super) async fn locked(
    conn: &mut PgConnection,
    teams: &[TeamId],
) -> Result<Vec<TeamId>, sqlx::Error> {
    let teams: Vec<Uuid> = teams.iter().map(|team| team.as_uuid()).collect();
    let locked = sqlx::query_scalar!(
        "
        with free as materialized (
            select team_id, period_start from usage where team_id = any($1) for no key update skip locked
        )
        select distinct u.team_id
        from usage u
        where u.team_id = any($1) and (u.team_id, u.period_start) not in (select team_id, period_start from free)
        ",
        &teams,
    )
    .fetch_all(conn)
    .await?;
    Ok(locked.into_iter().map(TeamId::from).collect())
}
