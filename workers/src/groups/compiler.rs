//! The thread that compiles rule groups: one, so that each compilation uses the memory of the last one again, and at a low
//! priority, because compiling takes a processor for seconds and nobody's answer should wait for it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    thread,
};

use tokio::sync::oneshot;

/// By how much its priority is lower than that of other threads.
#[cfg(target_os = "linux")]
const NICE: i32 = 10;

type Work = Box<dyn FnOnce() + Send>;

/// The front of the thread, which ends when this is dropped.
pub(super) struct Compiler {
    work: mpsc::Sender<Work>,
}

/// The work panicked, or its thread is gone.
#[derive(Debug, thiserror::Error)]
#[error("compiling the rules failed")]
pub(super) struct Failed;

impl Compiler {
    pub(super) fn start() -> Self {
        let (work, waiting) = mpsc::channel::<Work>();
        thread::spawn(move || {
            lower_priority();
            for work in waiting {
                work();
            }
        });
        Self { work }
    }

    /// Works on the thread. What waits is not bounded here: callers take a slot before.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Failed> {
        let (done, outcome) = oneshot::channel();
        let work = move || {
            // What panicked has no outcome, and the thread goes on.
            if let Ok(outcome) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = done.send(outcome);
            }
        };
        self.work.send(Box::new(work)).map_err(|_| Failed)?;
        outcome.await.map_err(|_| Failed)
    }
}

/// Lowers the priority of this thread. Elsewhere than on Linux it would be that of the whole process.
#[cfg(target_os = "linux")]
fn lower_priority() {
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::debug!(%error, "rules are compiled at the usual priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_panics_fails_and_the_next_is_done_on_the_same_thread() {
        let compiler = Compiler::start();
        let first = compiler.run(|| thread::current().id()).await.unwrap();
        assert!(compiler.run(|| panic!("a test's")).await.is_err());
        let last = compiler.run(|| thread::current().id()).await.unwrap();
        assert_eq!(first, last);
    }
}
