//! Jobs that do what their payload says, and effects that leave rows.

use queue::{Effect, FinishTx, Lane, NewJob, QueueName, Survivor};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub(crate) const WORK: QueueName = QueueName::new("work");

pub(crate) const MORE: QueueName = QueueName::new("more");

/// As long as the test wants, in place of milliseconds: until it calls `Process::let_go`.
pub(crate) const UNTIL_LET_GO: u64 = u64::MAX;

/// What a job does when it runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Act {
    pub(crate) name: String,
    /// Marks that it records first, one after the other.
    #[serde(default)]
    pub(crate) checkpoints: Vec<Mark>,
    /// Sleeps this long before it ends, or [`UNTIL_LET_GO`].
    pub(crate) sleep_ms: u64,
    /// How its first attempts end.
    pub(crate) at_first: Vec<End>,
    /// Whether its effect breaks a constraint.
    pub(crate) poison: bool,
    /// Whether its effect enqueues a job in `MORE`.
    pub(crate) follow_up: bool,
    /// How long that job sleeps, or [`UNTIL_LET_GO`].
    #[serde(default)]
    pub(crate) follow_up_sleep_ms: u64,
}

/// What a job records while it runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) poison: bool,
    pub(crate) follow_up: bool,
    /// How long it goes on afterwards, or [`UNTIL_LET_GO`].
    pub(crate) sleep_ms: u64,
}

pub(crate) fn mark(name: &str) -> Mark {
    Mark {
        name: name.to_owned(),
        ..Mark::default()
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Fail,
    /// The database is to blame.
    Outage,
    FailAfter {
        ms: u64,
    },
    Abort,
    Panic,
    Again {
        ms: u64,
        charged: bool,
    },
}

pub(crate) fn act(name: &str) -> Act {
    Act {
        name: name.to_owned(),
        ..Act::default()
    }
}

/// One row in `effects` for each application.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(super) name: String,
    pub(super) attempt: u16,
    pub(super) poison: bool,
    pub(super) follow_up: bool,
    pub(super) follow_up_sleep_ms: u64,
}

impl Effect for Recorded {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let names: Vec<&str> = batch.iter().map(|job| job.effect.name.as_str()).collect();
        if names.contains(&"bomb") {
            // A backtrace would be printed for seconds, and the process would lose its lease.
            std::panic::resume_unwind(Box::new("an effect panicked"));
        }
        let attempts: Vec<i32> = batch
            .iter()
            .map(|job| i32::from(job.effect.attempt))
            .collect();
        let poison: Vec<bool> = batch.iter().map(|job| job.effect.poison).collect();
        sqlx::query(
            "insert into effects (name, attempt, sound)
             select name, attempt, not poison
               from unnest($1::text[], $2::int[], $3::bool[]) as e (name, attempt, poison)",
        )
        .bind(names)
        .bind(attempts)
        .bind(poison)
        .execute(&mut *tx.conn)
        .await?;
        for job in batch.iter().filter(|job| job.effect.follow_up) {
            tx.jobs.push(NewJob::new(
                MORE,
                lane(1),
                &Act {
                    sleep_ms: job.effect.follow_up_sleep_ms,
                    ..act(&format!("after {}", job.effect.name))
                },
            ));
        }
        Ok(())
    }
}

/// The error of a handler that could not reach the database.
#[derive(Debug)]
pub(super) struct Outage;

impl std::fmt::Display for Outage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the database is away")
    }
}

impl std::error::Error for Outage {}

pub(crate) fn lane(n: u128) -> Lane {
    Lane(Uuid::from_u128(n))
}

pub(crate) fn job(act: &Act) -> NewJob {
    NewJob::new(WORK, lane(1), act)
}
