//! A run of an item's job as a step of the item's trace. The trace is known once the item is loaded.

use std::time::Instant;

use apalis::prelude::BoxDynError;
use domain::id::MediaId;
use queue::{Finish, Run};
use telemetry::trace::{Context, Current, Kind, Span};
use tracing::{Level, debug, enabled};

/// Runs a job. Its log lines name the trace that it [enters](enter).
pub(crate) async fn traced<E>(
    trace: &Current,
    run: &Run,
    media: MediaId,
    job: impl Future<Output = Result<Finish<E>, BoxDynError>>,
) -> Result<Finish<E>, BoxDynError> {
    let mut ending = Ending {
        trace,
        run,
        media,
        began: Instant::now(),
        outcome: "interrupted",
    };
    let ended = trace.clone().scope(job).await;
    ending.outcome = match &ended {
        Ok(Finish::Done(_)) => "done",
        Ok(Finish::Again { .. }) => "again",
        Err(_) => "failed",
    };
    ended
}

/// The running job works for this item's trace.
pub(crate) fn enter(trace: Context, run: &Run) {
    telemetry::trace::enter(trace, run.group.0.into_bytes());
    debug!(job = %run.job, queue = %run.queue, attempt = run.attempt, "a step of an item begins");
}

/// Tells of a run when it ends, also by a time limit or a panic.
struct Ending<'a> {
    trace: &'a Current,
    run: &'a Run,
    media: MediaId,
    began: Instant,
    outcome: &'static str,
}

impl Ending<'_> {
    /// The line with which a person finds this step of an item in the log.
    fn log(&self) {
        let Self {
            run,
            media,
            outcome,
            ..
        } = self;
        let elapsed_ms = self.began.elapsed().as_secs_f64() * 1_000.0;
        self.trace.clone().sync_scope(|| {
            debug!(media.id = %media, job = %run.job, queue = %run.queue, attempt = run.attempt, outcome, elapsed_ms,
                "a step of an item ended");
        });
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        if enabled!(Level::DEBUG) {
            self.log();
        }
        let Some(step) = self.trace.get() else { return };
        let queue = self.run.queue.as_str();
        let mut span = Span::since(self.began, step, queue, Kind::Consumer);
        span.set_with("media.id", || self.media.to_string());
        span.set("attempt", self.run.attempt);
        span.set("outcome", self.outcome);
        if matches!(self.outcome, "failed" | "interrupted") {
            span.fail(self.outcome);
        }
    }
}
