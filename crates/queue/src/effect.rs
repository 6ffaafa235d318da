//! What a handler wants to write to the database when its job ends, and what is done for jobs that
//! died.
//!
//! A handler does not write to tables. It returns an [`Effect`]. The finisher applies the effects
//! of all jobs that ended in the meantime in the transaction that also removes these jobs, and only
//! for jobs that this worker still has. So an effect happens exactly once, however often its job
//! ran.

mod any;
mod finish;
mod on_dead;

use sqlx::PgConnection;

use crate::{JobId, NewJobs};

pub(crate) use self::any::AnyEffect;
pub use self::finish::{Finish, IntoFinish};
pub use self::on_dead::{DeadJob, DeathCause, OnDead};
pub(crate) use self::on_dead::{OnDeadFn, on_dead_fn};

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
