//! What the jobs of the schedules do, and the worker that takes new ones at once.

use std::{
    mem,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::{
    BackendSettings, Bottleneck, DeadJob, DeathCause, Effect, Finish, FinishTx, Group, Lane,
    NewJob, OnDead, QueueName, Retry, Survivor,
    effect::AnyEffect,
    in_flight::{Claim, InFlightJob, InFlightJobs},
    local_workers::{LocalWorker, ReservedPlaces},
    outcome::{Outcome as Actually, RetryReason},
};

use super::state::Outcome;

pub(super) const QUEUE: QueueName = QueueName::new("schedules");
pub(super) const LANE: Lane = Lane(Uuid::from_u128(1));
/// Longer than any test.
pub(super) const LONG: Duration = Duration::from_hours(1);

/// A job of the schedules.
pub(super) fn new_job(max_attempts: u16) -> NewJob {
    NewJob::new(QUEUE, LANE, &()).max_attempts(max_attempts)
}

/// Leaves a row with the step that its run took.
pub(super) struct Applied {
    pub(super) step: i32,
    /// The attempts of the follow-up job, if there is one.
    pub(super) follow_up: Option<u16>,
}

impl Effect for Applied {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for survivor in batch {
            sqlx::query("insert into effects (job, step) values ($1, $2)")
                .bind(survivor.job)
                .bind(survivor.effect.step)
                .execute(&mut *tx.conn)
                .await?;
            tx.jobs.extend(survivor.effect.follow_up.map(new_job));
        }
        Ok(())
    }
}

/// Leaves a row for each dead job.
pub(super) struct Noted;

impl OnDead for Noted {
    async fn apply(dead: &[DeadJob], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        for job in dead {
            sqlx::query("insert into obituaries (job) values ($1)")
                .bind(job.id)
                .execute(&mut *tx.conn)
                .await?;
        }
        Ok(())
    }
}

pub(super) fn settings() -> BackendSettings {
    let retry = Retry {
        initial: LONG,
        factor: 1.0,
        max: LONG,
        jitter: 0.0,
    };
    BackendSettings::new(QUEUE).retry(retry).on_dead::<Noted>()
}

/// The end of a run. `max_attempts` are a follow-up job's.
pub(super) fn actually(outcome: Outcome, step: i32, max_attempts: u16) -> Actually {
    let with = |follow_up| AnyEffect::new(Applied { step, follow_up });
    let effect = || with(None);
    let error = || "not this time".to_owned();
    match outcome {
        Outcome::Done => Actually::Finished(Finish::Done(effect())),
        Outcome::DoneWithMore => Actually::Finished(Finish::Done(with(Some(max_attempts)))),
        Outcome::Again { charged } => Actually::Finished(Finish::Again {
            effect: effect(),
            delay: if charged { LONG } else { Duration::ZERO },
            charged,
        }),
        Outcome::Fail => Actually::Failed {
            reason: RetryReason::Error,
            error: error(),
            delay: None,
        },
        Outcome::Abort => Actually::Dead {
            cause: DeathCause::Aborted,
            error: error(),
        },
        Outcome::Release => Actually::Released,
    }
}

/// A worker that has room for everything, and tracks what it gets.
pub(super) struct Hands {
    settings: BackendSettings,
    in_flight_jobs: Arc<InFlightJobs>,
    taken: Mutex<Vec<Arc<InFlightJob>>>,
}

impl Hands {
    pub(super) fn new(lane_cap: u32, in_flight_jobs: Arc<InFlightJobs>) -> Arc<Self> {
        Arc::new(Self {
            settings: settings().lane_cap(lane_cap),
            in_flight_jobs,
            taken: Mutex::default(),
        })
    }

    /// Takes what was handed over since the last call.
    pub(super) fn take(&self) -> Vec<Arc<InFlightJob>> {
        mem::take(&mut *self.taken.lock().unwrap())
    }
}

impl LocalWorker for Hands {
    fn reserve(self: Arc<Self>, _: Group, _: Lane, wanted: usize) -> Box<dyn ReservedPlaces> {
        Box::new(Room {
            of: self,
            jobs: wanted,
        })
    }

    fn bottleneck(&self) -> Option<Bottleneck> {
        None
    }
}

struct Room {
    of: Arc<Hands>,
    jobs: usize,
}

impl ReservedPlaces for Room {
    fn jobs(&self) -> usize {
        self.jobs
    }

    fn settings(&self) -> &BackendSettings {
        &self.of.settings
    }

    fn track(&self, claim: Claim, since: Instant) -> Option<Arc<InFlightJob>> {
        InFlightJob::new(
            claim,
            since,
            &self.of.in_flight_jobs,
            TaskTracker::new().token(),
        )
    }

    fn fill(self: Box<Self>, jobs: Vec<(Arc<InFlightJob>, &str)>) {
        let mut taken = self.of.taken.lock().unwrap();
        taken.extend(jobs.into_iter().map(|(in_flight, _)| in_flight));
    }
}
