//! What a handler wants done in the database when its job ends, and what is done for jobs that died.
//!
//! A handler touches no table. It returns an [`Effect`], and the finisher applies the effects of all jobs
//! that ended meanwhile in the one transaction that also removes those jobs, and only for jobs that were
//! still this worker's. So an effect happens exactly once, however often its job ran.

use std::{
    any::{Any, TypeId},
    fmt,
    time::Duration,
};

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use sqlx::PgConnection;

use crate::{JobId, Lane, NewJobs};

/// What a handler wants done in the database if, and only if, its job is still its own when it ends.
pub trait Effect: Sized + Send + Sync + 'static {
    /// Applies the effects of all survivors of one batch, best with a few multi-row statements.
    ///
    /// Called with one or more survivors. When it fails for a reason of its own (a constraint, a value out
    /// of range), everything is rolled back and the batch is split until the culprit stands alone: that
    /// job is charged and tried again, no other is harmed. When the database is at fault, the whole batch
    /// is applied again later.
    fn apply(
        batch: &[Survivor<'_, Self>],
        tx: &mut FinishTx<'_>,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// Nothing but the end of the job.
impl Effect for () {
    async fn apply(_: &[Survivor<'_, ()>], _: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        Ok(())
    }
}

/// An effect, or nothing but the end of the job.
impl<E: Effect> Effect for Option<E> {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let some: Vec<Survivor<'_, E>> = batch
            .iter()
            .filter_map(
                |&Survivor {
                     job,
                     attempt,
                     effect,
                 }| {
                    effect.as_ref().map(|effect| Survivor {
                        job,
                        attempt,
                        effect,
                    })
                },
            )
            .collect();
        if some.is_empty() {
            Ok(())
        } else {
            E::apply(&some, tx).await
        }
    }
}

/// A job that ended and was still ours, with what its handler returned.
#[derive(Debug)]
pub struct Survivor<'a, E> {
    /// The job.
    pub job: JobId,
    /// The charged attempt that ended, from 1.
    pub attempt: u16,
    /// What its handler returned.
    pub effect: &'a E,
}

/// The finishing transaction: SQL through `conn`, follow-up jobs through `jobs`.
#[derive(Debug)]
pub struct FinishTx<'a> {
    /// The connection of the transaction; neither commit nor roll back.
    pub conn: &'a mut PgConnection,
    /// Follow-up jobs of the batch; all are enqueued with one statement, their queues woken after the commit.
    pub jobs: NewJobs,
}

/// How a run ended well: for good, or for now.
#[derive(Debug)]
pub enum Finish<E> {
    /// The job is finished.
    Done(E),
    /// The effect is applied, and the same job runs again, with the same payload.
    Again {
        /// Applied under the same fence as that of a finished job.
        effect: E,
        /// How long from now.
        delay: Duration,
        /// Whether this run counts as an attempt. A charged `Again` from the last attempt applies its effect
        /// and ends the job in `dead_jobs`.
        charged: bool,
    },
}

/// What a handler may return: an [`Effect`], or a [`Finish`] around one.
pub trait IntoFinish {
    /// The effect inside.
    type Effect: Effect;

    /// Says how the run ended.
    fn into_finish(self) -> Finish<Self::Effect>;
}

impl<E: Effect> IntoFinish for E {
    type Effect = E;

    fn into_finish(self) -> Finish<E> {
        Finish::Done(self)
    }
}

impl<E: Effect> IntoFinish for Finish<E> {
    type Effect = E;

    fn into_finish(self) -> Finish<E> {
        self
    }
}

/// What must happen when jobs of a queue die, in the transaction that buries them.
///
/// Registered with [`BackendSettings::on_dead`](crate::BackendSettings::on_dead). However a job dies (its
/// attempts are spent, its handler gave up, its payload cannot be decoded, its worker was killed
/// too often), it is buried only together with this. While it fails, the job stays and is tried again.
pub trait Obituary: 'static {
    /// Acts for all jobs of one queue buried in one transaction. Their handlers do not run any more.
    fn apply(
        dead: &[DeadJob],
        tx: &mut FinishTx<'_>,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// A job about to be buried.
#[derive(Clone, Debug)]
pub struct DeadJob {
    /// The job.
    pub id: JobId,
    /// Its lane.
    pub lane: Lane,
    /// Charged attempts.
    pub attempt: u16,
    /// Why it died.
    pub cause: DeathCause,
    /// The last error, at most 2 KB.
    pub error: String,
    /// Its arguments as they were stored: JSON, but perhaps not what the handler expects.
    pub payload: String,
}

impl DeadJob {
    /// The arguments, when they can be decoded.
    pub fn args<A: DeserializeOwned>(&self) -> Result<A, serde_json::Error> {
        serde_json::from_str(&self.payload)
    }
}

/// Why a job died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum DeathCause {
    /// Its charged attempts are spent.
    Exhausted,
    /// Its handler returned apalis's `AbortError`.
    Aborted,
    /// Its payload is not what its handler takes.
    Undecodable,
    /// Its worker died during its last attempt.
    WorkerLost,
}

impl DeathCause {
    /// Every cause.
    pub const ALL: [Self; 4] = [
        Self::Exhausted,
        Self::Aborted,
        Self::Undecodable,
        Self::WorkerLost,
    ];

    /// As stored, and as a metric label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exhausted => "exhausted",
            Self::Aborted => "aborted",
            Self::Undecodable => "undecodable",
            Self::WorkerLost => "worker_lost",
        }
    }
}

/// An effect whose type is forgotten, with the one function that still knows it. That saves a registry:
/// whoever has a handler's result has all that is needed to apply it.
pub(crate) struct AnyEffect {
    value: Box<dyn Any + Send + Sync>,
    apply: ApplyFn,
}

type ApplyFn = for<'a, 'b> fn(
    &'a [(JobId, u16, &'a AnyEffect)],
    &'a mut FinishTx<'b>,
) -> BoxFuture<'a, Result<(), sqlx::Error>>;

impl AnyEffect {
    pub(crate) fn new<E: Effect>(effect: E) -> Self {
        Self {
            value: Box::new(effect),
            apply: apply_as::<E>,
        }
    }

    /// Effects of one kind are applied together.
    pub(crate) fn kind(&self) -> TypeId {
        (*self.value).type_id()
    }

    /// Applies a batch of effects of the same [`kind`](Self::kind), none when it is empty.
    pub(crate) async fn apply_all(
        batch: &[(JobId, u16, &AnyEffect)],
        tx: &mut FinishTx<'_>,
    ) -> Result<(), sqlx::Error> {
        match batch.first() {
            Some((_, _, first)) => (first.apply)(batch, tx).await,
            None => Ok(()),
        }
    }
}

impl fmt::Debug for AnyEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyEffect").finish_non_exhaustive()
    }
}

fn apply_as<'a, 'b, E: Effect>(
    batch: &'a [(JobId, u16, &'a AnyEffect)],
    tx: &'a mut FinishTx<'b>,
) -> BoxFuture<'a, Result<(), sqlx::Error>> {
    let survivors: Vec<Survivor<'a, E>> = batch
        .iter()
        .map(|&(job, attempt, effect)| Survivor {
            job,
            attempt,
            effect: effect
                .value
                .downcast_ref()
                .expect("batches are grouped by the effect's type"),
        })
        .collect();
    Box::pin(async move { E::apply(&survivors, tx).await })
}

/// An [`Obituary`] whose type is forgotten.
pub(crate) type ObituaryFn =
    for<'a, 'b> fn(&'a [DeadJob], &'a mut FinishTx<'b>) -> BoxFuture<'a, Result<(), sqlx::Error>>;

pub(crate) fn obituary<'a, O: Obituary>(
    dead: &'a [DeadJob],
    tx: &'a mut FinishTx<'_>,
) -> BoxFuture<'a, Result<(), sqlx::Error>> {
    Box::pin(O::apply(dead, tx))
}
