//! Keeps a task running: a panic is logged, and the task is started again.

use std::{any::Any, panic::AssertUnwindSafe, time::Duration};

use futures::FutureExt;
use tracing::error;

/// Runs a task until it returns. After a panic, it pauses and starts the task again.
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

/// The message of a panic, if it is a literal of the source. A formatted message may contain any
/// data, for example a whole text that was cut in the wrong place, and this message is stored and
/// logged.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> &'static str {
    panic
        .downcast_ref::<&'static str>()
        .copied()
        .unwrap_or("(the message is not kept)")
}
