//! Effects of several types in one batch.

use std::{
    any::{Any, TypeId},
    fmt,
};

use futures::future::BoxFuture;

use super::{Effect, FinishTx, Survivor};
use crate::JobId;

/// An effect without its type, together with the only function that still knows it. So no registry
/// is needed: the result of a handler is enough to apply the effect.
pub(crate) struct AnyEffect {
    value: Box<dyn Any + Send + Sync>,
    apply: ApplyFn,
    committed: fn(&AnyEffect),
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
            // Batches are grouped by the effect's type.
            effect: effect.known(),
        })
        .collect();
    Box::pin(async move { E::apply(&survivors, tx).await })
}
