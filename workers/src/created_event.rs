//! The event of an item's acceptance (`media.created`), which the item's job sends together with
//! its verdict, or before it.
//!
//! If the run ends soon, both are sent together. A checkpoint sends the acceptance earlier when an
//! external provider is about to be asked, when the run takes longer than [`SOON`], or when this
//! run or an earlier one failed.

use std::{pin::pin, time::Duration};

use apalis::prelude::BoxDynError;
use queue::{Checkpoint, Finish, NotRecorded, Run};
use store::{
    created_event::Created,
    item_progress::{Progress, Stage},
    jobs::MediaJob,
    verdict_waiters::{Promise, VerdictWaiters},
};
use tokio::{select, sync::Mutex, time::sleep};
use tracing::warn;

use crate::is_outage;

/// How long an acceptance waits for the verdict.
const SOON: Duration = Duration::from_millis(250);

/// How a run ends, without the acceptance.
pub(crate) type Left = Finish<Option<Stage>>;
/// How a run ends.
pub(crate) type Ended = Finish<Option<Progress>>;

/// The acceptance of a run's item.
pub(crate) struct CreatedEvent {
    /// None after it was sent.
    created: Mutex<Option<Created>>,
    checkpoint: Checkpoint,
    /// What is owed to the request that waits for the verdict, if one does.
    awaited: Option<Promise>,
}

impl CreatedEvent {
    /// Begins a run. If an earlier run failed, this one may fail, too, so the acceptance is sent
    /// first.
    pub(crate) async fn begin(
        job: &MediaJob,
        run: &Run,
        checkpoint: Checkpoint,
        awaited: &VerdictWaiters,
    ) -> Result<Self, NotRecorded> {
        let created_event = Self {
            created: Mutex::new(job.created()),
            checkpoint,
            awaited: job.awaited.then(|| Promise::new(awaited.clone())),
        };
        if run.attempt > 1 {
            created_event.now().await?;
        }
        Ok(created_event)
    }

    /// Sends the acceptance now, unless it was sent.
    pub(crate) async fn now(&self) -> Result<(), NotRecorded> {
        let mut created = self.created.lock().await;
        if let Some(untold) = &*created {
            self.checkpoint.record(untold.clone()).await?;
            *created = None;
        }
        Ok(())
    }

    /// Waits for something, and sends the acceptance meanwhile if that takes long.
    pub(crate) async fn meanwhile<T>(
        &self,
        work: impl Future<Output = T>,
    ) -> Result<T, NotRecorded> {
        let mut work = pin!(work);
        select! {
            biased;
            done = &mut work => return Ok(done),
            () = sleep(SOON) => {}
        }
        // Both at the same time: the work may hold things that others wait for.
        let (done, told) = tokio::join!(work, self.now());
        told?;
        Ok(done)
    }

    /// Ends the run. If the acceptance was not sent yet, it is sent with the run's effect.
    pub(crate) async fn end(self, left: Result<Left, BoxDynError>) -> Result<Ended, BoxDynError> {
        match left {
            Ok(Finish::Done(stage)) => Ok(Finish::Done(self.with(stage))),
            Ok(Finish::Again {
                effect,
                delay,
                charged,
            }) => Ok(Finish::Again {
                effect: self.with(effect),
                delay,
                charged,
            }),
            // During an outage of the database nothing can be sent.
            Err(error) if is_outage(&error) => Err(error),
            Err(error) => {
                if let Err(error) = self.now().await {
                    warn!(%error, "could not send media.created for an item; the next run tries again");
                }
                Err(error)
            }
        }
    }

    fn with(self, stage: Option<Stage>) -> Option<Progress> {
        match (self.created.into_inner(), stage) {
            (None, None) => None,
            (created, stage) => Some(Progress {
                created,
                stage: stage.unwrap_or(Stage::Waiting),
                awaited: self.awaited,
            }),
        }
    }
}
