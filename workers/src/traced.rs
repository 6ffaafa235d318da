//! A run of an item's job as a step of the item's trace. The trace is known once the item is loaded.

use std::time::Instant;

use apalis::prelude::BoxDynError;
use domain::id::MediaId;
use queue::{Finish, Run};
use traces::{Context, Current, Kind, Span};

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
    traces::enter(trace, run.group.0.into_bytes());
}

/// Tells of a run when it ends, also by a time limit or a panic.
struct Ending<'a> {
    trace: &'a Current,
    run: &'a Run,
    media: MediaId,
    began: Instant,
    outcome: &'static str,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
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
