//! Stops claiming when the worker is told to stop.

use std::time::Duration;

use apalis_core::worker::context::WorkerContext;
use tokio_util::sync::CancellationToken;

/// How often a running backend checks whether its worker was told to stop. apalis reports this only
/// when it closes the backend, after the last running job has ended.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Stops claiming as soon as the worker is told to stop. Its jobs may run on. Jobs that were
/// claimed and not started go back to workers that have time for them.
pub(super) async fn stop_with(worker: &WorkerContext, stop: &CancellationToken) {
    while !worker.is_shutting_down() {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(STOP_CHECK) => {}
        }
    }
    stop.cancel();
}

/// Cancels its token when it is dropped, or earlier.
pub(super) struct CancelOnDrop(pub(super) CancellationToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
