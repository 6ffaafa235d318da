//! Keeps a task running: what panics is logged and started again.

use std::{any::Any, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use tracing::error;

/// Runs a task until it returns; a panic is followed by a pause and a fresh start.
pub(crate) async fn supervise<F>(name: &'static str, mut task: impl FnMut() -> F)
where
    F: Future<Output = ()>,
{
    while let Err(panic) = AssertUnwindSafe(task()).catch_unwind().await {
        error!(
            task = name,
            panic = panic_text(&*panic),
            "a task of the queue panicked; starting it again"
        );
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// What a panic said, if that is a literal of the source. A message that was put together may hold anything that was in hand,
/// a whole text that was cut in the wrong place for one, and what is told here is kept and logged.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &'static str {
    panic
        .downcast_ref::<&'static str>()
        .copied()
        .unwrap_or("(the message is not kept)")
}
