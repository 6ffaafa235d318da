//! What a handler wants to write to the database when its job ends, and what is done for jobs that
//! died.
//!
//! A handler does not write to tables. It returns an [`Effect`]. The finisher applies the effects
//! of all jobs that ended in the meantime in the transaction that also removes these jobs, and only
//! for jobs that this worker still has. So an effect happens exactly once, however often its job
//! ran.

use std::{
    any::{Any, TypeId},
    fmt,
    time::Duration,
};

use futures::future::BoxFuture;
use serde::de::DeserializeOwned;
use sqlx::PgConnection;

use crate::{JobId, Lane, NewJobs};

/// What a handler wants to write to the database, if and only if the worker still has the job when
/// it ends.
pub trait Effect: Sized + Send + Sync + 'static {
    /// Applies the effects of all survivors of one batch, best with a few multi-row statements.
    ///
    /// There is at least one survivor. If it fails by itself (a constraint, a value out of range),
    /// everything is rolled back, and the batch is split until the failing job stands alone. That
    /// job is charged and tried again, and no other job is harmed. If the database is at fault, the
    /// whole batch is applied again later.
    fn apply(
        batch: &[Survivor<'_, Self>],
        tx: &mut FinishTx<'_>,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Called once for each effect whose transaction has committed, in the process that applied it. Must not block. It is not
    /// called if the process dies in between, so nothing that must happen may depend on it.
    fn committed(&self) {}
}

/// Only ends the job.
impl Effect for () {
    async fn apply(_: &[Survivor<'_, ()>], _: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        Ok(())
    }
}

/// An effect, or only the end of the job.
impl<E: Effect> Effect for Option<E> {
    async fn apply(batch: &[Survivor<'_, Self>], tx: &mut FinishTx<'_>) -> Result<(), sqlx::Error> {
        let some: Vec<Survivor<'_, E>> = batch
            .iter()
            .filter_map(|ended| {
                Some(Survivor {
                    job: ended.job,
                    attempt: ended.attempt,
                    effect: ended.effect.as_ref()?,
                })
            })
            .collect();
        if some.is_empty() {
            Ok(())
        } else {
            E::apply(&some, tx).await
        }
    }

    fn committed(&self) {
        if let Some(effect) = self {
            effect.committed();
        }
    }
}

/// A job that ended and that this worker still had, with what its handler returned.
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
    /// The connection of the transaction. Neither commit nor roll back.
    pub conn: &'a mut PgConnection,
    /// Follow-up jobs of the batch. All are enqueued with one statement, and their queues are woken
    /// after the commit.
    pub jobs: NewJobs,
}

/// How a run ended well: the job is finished, or runs again.
#[derive(Debug)]
pub enum Finish<E> {
    /// The job is finished.
    Done(E),
    /// The effect is applied, and the same job runs again, with the same payload.
    Again {
        /// Applied under the same fence as that of a finished job.
        effect: E,
        /// The delay from now.
        delay: Duration,
        /// Whether this run counts as an attempt. A charged `Again` in the last attempt applies its
        /// effect and ends the job in `dead_jobs`.
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

/// An effect without its type, together with the only function that still knows it. So no registry
/// is needed: the result of a handler is enough to apply the effect.
pub(crate) struct AnyEffect {
    value: Box<dyn Any + Send + Sync>,
    apply: ApplyFn,
    committed: fn(&AnyEffect),
}

type ApplyFn = for<'a, 'b> fn(
    &'a [Survivor<'a, AnyEffect>],
    &'a mut FinishTx<'b>,
) -> BoxFuture<'a, Result<(), sqlx::Error>>;

impl AnyEffect {
    pub(crate) fn new<E: Effect>(effect: E) -> Self {
        Self {
            value: Box::new(effect),
            apply: apply_as::<E>,
            committed: |effect| effect.known::<E>().committed(),
        }
    }

    /// Says that the transaction that applied it has committed.
    pub(crate) fn committed(&self) {
        (self.committed)(self);
    }

    fn known<E: Effect>(&self) -> &E {
        self.value
            .downcast_ref()
            .expect("its functions are those of its type")
    }

    /// Effects of one kind are applied together.
    pub(crate) fn kind(&self) -> TypeId {
        (*self.value).type_id()
    }

    /// Applies a batch of effects of the same [`kind`](Self::kind). Does nothing if it is empty.
    pub(crate) async fn apply_all(
        batch: &[Survivor<'_, AnyEffect>],
        tx: &mut FinishTx<'_>,
    ) -> Result<(), sqlx::Error> {
        match batch.first() {
            Some(first) => (first.effect.apply)(batch, tx).await,
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
    batch: &'a [Survivor<'a, AnyEffect>],
    tx: &'a mut FinishTx<'b>,
) -> BoxFuture<'a, Result<(), sqlx::Error>> {
    let survivors: Vec<Survivor<'a, E>> = batch
        .iter()
        .map(|any| Survivor {
            job: any.job,
            attempt: any.attempt,
            // Batches are grouped by the effect's type.
            effect: any.effect.known(),
        })
        .collect();
    Box::pin(async move { E::apply(&survivors, tx).await })
}

/// What must happen when jobs of a queue die, in the transaction that moves them to `queue.dead_jobs`.
///
/// Register it with [`BackendSettings::on_dead`](crate::BackendSettings::on_dead). However a job
/// dies (no attempts left, its handler gave up, its payload cannot be decoded, its worker was
/// killed too often), it is moved only together with this. While it fails, the job stays, and the
/// move is tried again.
pub trait OnDead: 'static {
    /// Acts for all jobs of one queue that are moved in one transaction. Their handlers do not run
    /// any more.
    fn apply(
        dead: &[DeadJob],
        tx: &mut FinishTx<'_>,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// A job about to be moved to `queue.dead_jobs`.
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
    /// The arguments, if they can be decoded.
    pub fn args<A: DeserializeOwned>(&self) -> Result<A, serde_json::Error> {
        serde_json::from_str(&self.payload)
    }
}

/// Why a job died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum DeathCause {
    /// It has no charged attempts left.
    Exhausted,
    /// Its handler returned apalis's `AbortError`.
    Aborted,
    /// Its handler does not accept its payload.
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

/// An [`OnDead`] without its type.
pub(crate) type OnDeadFn =
    for<'a, 'b> fn(&'a [DeadJob], &'a mut FinishTx<'b>) -> BoxFuture<'a, Result<(), sqlx::Error>>;

pub(crate) fn on_dead_fn<'a, O: OnDead>(
    dead: &'a [DeadJob],
    tx: &'a mut FinishTx<'_>,
) -> BoxFuture<'a, Result<(), sqlx::Error>> {
    Box::pin(O::apply(dead, tx))
}
