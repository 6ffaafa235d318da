//! Checkpoints: a running job records an effect and goes on.
//!
//! A checkpoint takes the same way as an outcome: through the finisher's inbox, in a batch with
//! others, under the fence. It gives the row the next fence, so that it cannot be written twice,
//! whatever happens to the answer to its commit.

use std::sync::{Arc, Weak};

use apalis_core::task::{Task, data::MissingDataError, from_request::FromRequest};
use tokio::sync::oneshot;

use crate::{
    Effect, NotRecorded,
    effect::AnyEffect,
    in_flight::InFlightJob,
    outcome::{Answer, Ended, Outcome},
    shared::Shared,
};

/// Lets a running job record effects before it ends. Take it as an additional argument of the
/// handler:
///
/// ```ignore
/// async fn send(page: Page, checkpoint: queue::Checkpoint) -> Result<Sent, BoxDynError> {
///     for half in page.halves() {
///         let sent = send_all(half).await;
///         checkpoint.record(sent).await?;
///     }
///     Ok(Sent::nothing_more())
/// }
/// ```
///
/// Each effect is recorded exactly once, and only while the job is this worker's. A job that runs
/// again starts from its payload, so it must look in the tables for what it has recorded.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    shared: Arc<Shared>,
    /// Weak, so that a checkpoint that is kept after the run does not keep the job.
    in_flight: Weak<InFlightJob>,
}

impl Checkpoint {
    pub(crate) fn new(shared: Arc<Shared>, in_flight: &Arc<InFlightJob>) -> Self {
        Self {
            shared,
            in_flight: Arc::downgrade(in_flight),
        }
    }

    /// Applies the effect in a transaction with those of other jobs, and returns after the commit.
    ///
    /// Follow-up jobs of the effect are enqueued with it. While the database is away, this waits.
    /// If the run is dropped in the meantime (by a time-out), the effect may have been recorded or
    /// not; the end of the run is written after that.
    ///
    /// # Errors
    /// If nothing was recorded, and never will be.
    pub async fn record<E: Effect>(&self, effect: E) -> Result<(), NotRecorded> {
        let in_flight = self.in_flight.upgrade().ok_or(NotRecorded::NoLongerOurs)?;
        let (reached, answer) = reach(in_flight, AnyEffect::new(effect))
            .await
            .ok_or(NotRecorded::NoLongerOurs)?;
        self.shared.inbox.record(reached).await;
        // Without an answer, the queue has closed. The job is left to the rescue.
        answer.await.unwrap_or(Err(NotRecorded::NoLongerOurs))
    }
}

/// A checkpoint for the inbox, as soon as it is this job's turn. `None` if its run is over.
pub(crate) async fn reach(
    in_flight: Arc<InFlightJob>,
    effect: AnyEffect,
) -> Option<(Ended, oneshot::Receiver<Result<(), NotRecorded>>)> {
    let permit = in_flight.write_permit().await?;
    let (sender, receiver) = oneshot::channel();
    let answer = Answer { sender, permit };
    let outcome = Outcome::Checkpoint { effect, answer };
    Some((Ended { in_flight, outcome }, receiver))
}

impl<Args: Sync> FromRequest<Task<Args>> for Checkpoint {
    type Error = MissingDataError;

    async fn from_request(task: &Task<Args>) -> Result<Self, Self::Error> {
        task.data().get_checked().cloned()
    }
}
