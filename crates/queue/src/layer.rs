//! The layer around a worker's handler: turns the end of a run into an outcome for the finisher.
//!
//! It is outside every layer of the user, so time-outs and panics are failed attempts, too, and a
//! slot is always freed. A run whose future is dropped (because a worker did not stop within its
//! grace period) is given back.

mod interruptible;
mod outcome;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use ::metrics::{Gauge, Histogram};
use apalis_core::{error::BoxDynError, task::Task};
use futures::{FutureExt, future::BoxFuture};
use tower::{Layer, Service};

use self::{
    interruptible::Interruptible,
    outcome::{failed, finished, panicked},
};
use crate::{BackendSettings, IntoFinish, in_flight::InFlightJob, metrics, shared::Shared};

/// The backend makes it for its worker. You do not need to name it.
#[derive(Clone, Debug)]
pub struct FinishLayer {
    shared: Arc<Shared>,
    durations: Histogram,
    waits: Histogram,
    busy: Gauge,
    is_outage: fn(&BoxDynError) -> bool,
}

impl FinishLayer {
    pub(crate) fn new(shared: Arc<Shared>, settings: &BackendSettings) -> Self {
        Self {
            shared,
            durations: metrics::durations(settings.queue),
            waits: metrics::waits(settings.queue),
            busy: metrics::slots_busy(settings.queue),
            is_outage: settings.is_outage,
        }
    }
}

impl<S> Layer<S> for FinishLayer {
    type Service = FinishService<S>;

    fn layer(&self, inner: S) -> FinishService<S> {
        FinishService {
            inner,
            layer: self.clone(),
        }
    }
}

/// A worker's handler with [`FinishLayer`] around it.
#[derive(Clone, Debug)]
pub struct FinishService<S> {
    inner: S,
    layer: FinishLayer,
}

impl<S, Args> Service<Task<Args>> for FinishService<S>
where
    S: Service<Task<Args>>,
    S::Response: IntoFinish,
    S::Error: Into<BoxDynError>,
    S::Future: Send + 'static,
{
    type Response = ();
    type Error = BoxDynError;
    type Future = BoxFuture<'static, Result<(), BoxDynError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxDynError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, task: Task<Args>) -> Self::Future {
        let in_flight: Arc<InFlightJob> = task
            .data()
            .get()
            .cloned()
            .expect("a task comes from our backend, which attaches its hold");
        let FinishLayer {
            shared,
            durations,
            waits,
            busy,
            is_outage,
        } = self.layer.clone();
        waits.record(in_flight.claim.waited + in_flight.since.elapsed());
        let started = Instant::now();
        busy.increment(1.0);
        let mut run = Interruptible {
            shared,
            busy,
            _slot: in_flight.take_slot(),
            in_flight: Some(in_flight),
        };
        let call = catch_unwind(AssertUnwindSafe(|| self.inner.call(task)));
        async move {
            let outcome = match call {
                Ok(future) => match AssertUnwindSafe(future).catch_unwind().await {
                    Ok(Ok(response)) => finished(response),
                    Ok(Err(error)) => failed(&error.into(), is_outage),
                    Err(panic) => panicked(&*panic),
                },
                Err(panic) => panicked(&*panic),
            };
            durations.record(started.elapsed());
            run.end(outcome).await;
            Ok(())
        }
        .boxed()
    }
}
