//! The layer around a worker's handler: turns the end of a run into an outcome for the finisher.
//!
//! It is outside every layer of the user, so time-outs and panics are failed attempts, too, and a
//! slot is always freed. A run whose future is dropped (because a worker did not stop within its
//! grace period) is given back.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use ::metrics::{Gauge, Histogram};
use apalis_core::{
    error::{AbortError, BoxDynError, RetryAfterError},
    task::Task,
};
use futures::{FutureExt, future::BoxFuture};
use tower::{Layer, Service, timeout::error::Elapsed};

use crate::{
    BackendSettings, DeathCause, Finish, IntoFinish,
    effect::AnyEffect,
    in_flight::InFlightJob,
    metrics,
    outcome::{Ended, Outcome, RetryReason, bounded},
    shared::Shared,
    slots::Slot,
    supervise::panic_text,
};

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
        waits.record(in_flight.run.waited + in_flight.since.elapsed());
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

/// A run that is given back, uncharged, when it is dropped before its end.
struct Interruptible {
    shared: Arc<Shared>,
    busy: Gauge,
    /// Freed together with the run.
    _slot: Option<Slot>,
    in_flight: Option<Arc<InFlightJob>>,
}

impl Interruptible {
    /// Waits for room in the finisher's inbox. During an outage, the slot stays taken, and no new
    /// job starts. This cannot cause a deadlock, because the finisher waits only for the database,
    /// on its own connection.
    async fn end(&mut self, outcome: Outcome) {
        if let Some(in_flight) = self.in_flight.take() {
            self.shared.inbox.send(Ended { in_flight, outcome }).await;
        }
    }
}

impl Drop for Interruptible {
    fn drop(&mut self) {
        self.busy.decrement(1.0);
        if let Some(in_flight) = self.in_flight.take() {
            self.shared.inbox.post(Ended {
                in_flight,
                outcome: Outcome::Released,
            });
        }
    }
}

fn finished<R: IntoFinish>(response: R) -> Outcome {
    Outcome::Finished(match response.into_finish() {
        Finish::Done(effect) => Finish::Done(AnyEffect::new(effect)),
        Finish::Again {
            effect,
            delay,
            charged,
        } => Finish::Again {
            effect: AnyEffect::new(effect),
            delay,
            charged,
        },
    })
}

fn failed(error: &BoxDynError, is_outage: fn(&BoxDynError) -> bool) -> Outcome {
    if is_outage(error) {
        return Outcome::Postponed {
            error: bounded(error),
        };
    }
    if error.is::<AbortError>() {
        return Outcome::Dead {
            cause: DeathCause::Aborted,
            error: bounded(error),
        };
    }
    let reason = if error.is::<Elapsed>() {
        RetryReason::Timeout
    } else {
        RetryReason::Error
    };
    let delay = error
        .downcast_ref::<RetryAfterError>()
        .map(RetryAfterError::get_duration);
    Outcome::Failed {
        reason,
        error: bounded(error),
        delay,
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Outcome {
    let error = bounded(format_args!("panicked: {}", panic_text(panic)));
    Outcome::Failed {
        reason: RetryReason::Panic,
        error,
        delay: None,
    }
}
