//! The apalis backend: gives a worker its jobs, and receives their outcomes through its layer.

use std::{
    fmt,
    marker::PhantomData,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use apalis_core::{
    backend::{Backend, BackendConfig, finalize::Ephemeral, future::BoxSyncFuture},
    task::{Task, builder::TaskBuilder, task_id::TaskId},
    worker::context::WorkerContext,
};
use futures::FutureExt;
use serde::de::DeserializeOwned;
use tokio::{sync::Notify, task::JoinHandle};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{
    BackendSettings, Checkpoint, FinishLayer,
    buffer::Buffer,
    claim::{Claimer, Health, Ready},
    local_workers::LocalWorker,
    metrics,
    outcome::{Ended, Outcome},
    shared::Shared,
    slots::Slots,
    supervise::supervise,
};

/// A source of jobs for one apalis worker, made by [`Queue::backend`](crate::Queue::backend).
///
/// It never returns an error: whatever happens to the database, the worker stays, and work goes on
/// later.
pub struct LaneBackend<Args> {
    shared: Arc<Shared>,
    settings: BackendSettings,
    /// Counts the jobs claimed here whose outcome is not yet in the database.
    pending: TaskTracker,
    running: Option<Running<Args>>,
    args: PhantomData<fn() -> Args>,
}

struct Running<Args> {
    buffer: Arc<Buffer<Ready<Args>>>,
    claims: Option<JoinHandle<()>>,
    /// Dropping it stops the claims, even if the worker is dropped without being stopped.
    stop: Option<DropGuard>,
    closing: Option<BoxSyncFuture<()>>,
}

impl<Args> LaneBackend<Args> {
    pub(crate) fn new(shared: Arc<Shared>, settings: BackendSettings) -> Self {
        Self {
            shared,
            settings,
            pending: TaskTracker::new(),
            running: None,
            args: PhantomData,
        }
    }
}

impl<Args: DeserializeOwned + Send + 'static> LaneBackend<Args> {
    fn start(&self, worker: WorkerContext) -> Running<Args> {
        let stop = self.shared.claiming.child_token();
        let buffer = Arc::new(Buffer::new(
            self.settings.prefetch,
            Slots::new(self.settings.slots),
        ));
        let claimer = Arc::new(Claimer {
            shared: self.shared.clone(),
            settings: self.settings,
            buffer: buffer.clone(),
            pending: self.pending.clone(),
            stop: stop.clone(),
            durations: metrics::claims(self.settings.queue),
            backlog: Notify::new(),
            health: Health::default(),
        });
        let local_worker: Arc<dyn LocalWorker> = claimer.clone();
        self.shared
            .local_workers
            .add(Arc::downgrade(&local_worker), self.settings.queue);
        let claims = self.shared.claimers.spawn(async move {
            tokio::join!(
                supervise("claims", || claimer.clone().run()),
                supervise("further claims", || claimer.clone().help()),
                stop_with(&worker, &claimer.stop),
            );
            claimer.release_all().await;
        });
        Running {
            buffer,
            claims: Some(claims),
            stop: Some(stop.drop_guard()),
            closing: None,
        }
    }
}

impl<Args: DeserializeOwned + Send + 'static> Backend for LaneBackend<Args> {
    type Task = Task<Args>;
    type Error = std::convert::Infallible;

    fn poll_ready(
        &mut self,
        _: &mut Context<'_>,
        worker: &WorkerContext,
    ) -> Poll<Result<(), Self::Error>> {
        if self.running.is_none() {
            self.running = Some(self.start(worker.clone()));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        _: &WorkerContext,
    ) -> Poll<Option<Result<Task<Args>, Self::Error>>> {
        let Some(running) = &self.running else {
            return Poll::Ready(None);
        };
        loop {
            let Some((Ready { in_flight, args }, slot)) = ready!(running.buffer.poll_take(cx))
            else {
                return Poll::Ready(None);
            };
            if !self.shared.lease.is_held_since(in_flight.since) {
                // Other workers may have it by now. Starting it would only repeat its calls to
                // other systems.
                self.shared.inbox.post(Ended {
                    in_flight,
                    outcome: Outcome::Released,
                });
                continue;
            }
            in_flight.occupy(slot);
            let run = in_flight.run;
            let task = TaskBuilder::new(args)
                .task_id(TaskId::from_int(run.job.0.unsigned_abs()))
                // apalis counts the attempt itself when the job starts.
                .attempt(usize::from(run.attempt) - 1)
                .max_attempts(usize::from(run.max_attempts))
                .data(run)
                .data(Checkpoint::new(self.shared.clone(), &in_flight))
                .data(in_flight.trace.clone())
                .data(in_flight)
                .build();
            return Poll::Ready(Some(Ok(task)));
        }
    }

    fn poll_close(
        &mut self,
        cx: &mut Context<'_>,
        _: &WorkerContext,
    ) -> Poll<Result<(), Self::Error>> {
        let Some(running) = &mut self.running else {
            return Poll::Ready(Ok(()));
        };
        let (claims, stop, pending) = (&mut running.claims, &mut running.stop, &self.pending);
        let closing = running.closing.get_or_insert_with(|| {
            drop(stop.take());
            let (claims, pending) = (claims.take(), pending.clone());
            async move {
                if let Some(claims) = claims {
                    // It cannot have panicked: tasks that may panic are supervised.
                    let _ = claims.await;
                }
                pending.close();
                pending.wait().await;
            }
            .boxed()
            .into()
        });
        closing.poll_unpin(cx).map(Ok)
    }
}

impl<Args> BackendConfig for LaneBackend<Args> {
    type Args = Args;
    type Id = u64;
    /// The backend decodes payloads itself, because an undecodable payload must not end the worker.
    type Kind = Ephemeral;
    type Config = BackendSettings;
    type Layer = FinishLayer;

    fn config(&self) -> &BackendSettings {
        &self.settings
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> FinishLayer {
        FinishLayer::new(self.shared.clone(), &self.settings)
    }
}

impl<Args> fmt::Debug for LaneBackend<Args> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneBackend")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// How often a running backend checks whether its worker was told to stop. apalis reports this only
/// when it closes the backend, after the last running job has ended.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Stops claiming as soon as the worker is told to stop. Its jobs may run on. Jobs that were
/// claimed and not started go back to workers that have time for them.
async fn stop_with(worker: &WorkerContext, stop: &CancellationToken) {
    while !worker.is_shutting_down() {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(STOP_CHECK) => {}
        }
    }
    stop.cancel();
}
