//! An item's acceptance, which the item's job is to tell (`media.created`): together with its verdict, or before it.
//!
//! It is told together when the run ends soon. It is told before, by a checkpoint, when somebody outside is about to be asked,
//! when the run takes longer than [`SOON`], when it has failed, and when an earlier run has.

use std::{pin::pin, time::Duration};

use apalis::prelude::BoxDynError;
use queue::{Checkpoint, Finish, NotRecorded, Run};
use store::{
    created::Created,
    jobs::MediaJob,
    progress::{Progress, Stage},
};
use tokio::{select, sync::Mutex, time::sleep};
use tracing::warn;

use crate::outage::is_outage;

/// How long an acceptance waits for the verdict.
const SOON: Duration = Duration::from_millis(250);

/// What a run leaves behind, but for the acceptance.
pub(crate) type Left = Finish<Option<Stage>>;
/// What a run leaves behind.
pub(crate) type Ended = Finish<Option<Progress>>;

/// The acceptance of a run's item.
pub(crate) struct Telling {
    /// None as soon as it is told.
    created: Mutex<Option<Created>>,
    checkpoint: Checkpoint,
}

impl Telling {
    /// Begins a run. Where an earlier one has failed, this one may, too: it tells first.
    pub(crate) async fn begin(
        job: &MediaJob,
        run: &Run,
        checkpoint: Checkpoint,
    ) -> Result<Self, NotRecorded> {
        let telling = Self {
            created: Mutex::new(job.created()),
            checkpoint,
        };
        if run.attempt > 1 {
            telling.now().await?;
        }
        Ok(telling)
    }

    /// Tells now, unless it is told.
    pub(crate) async fn now(&self) -> Result<(), NotRecorded> {
        let mut created = self.created.lock().await;
        if let Some(untold) = &*created {
            self.checkpoint.record(untold.clone()).await?;
            *created = None;
        }
        Ok(())
    }

    /// Waits for something, and tells meanwhile if that takes long.
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
        // The work may hold what others wait for, and need not wait for this.
        let (done, told) = tokio::join!(work, self.now());
        told?;
        Ok(done)
    }

    /// Ends the run: what was not told is told with what it leaves behind.
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
            // While the database is away nothing can be told.
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
            }),
        }
    }
}
