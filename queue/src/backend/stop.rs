//! Stops the claims when the worker is to stop.

use std::time::Duration;

use apalis_core::worker::context::WorkerContext;
use tokio_util::sync::CancellationToken;

/// How often a running backend looks whether its worker is to stop. apalis says so only when it closes the backend, and
/// that it does when the last running job has ended.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// Stops the claims as soon as the worker is to stop, while its jobs may run on: what was claimed and not started goes
/// back to those who have time for it.
pub(super) async fn stop_with(worker: &WorkerContext, stop: &CancellationToken) {
    while !worker.is_shutting_down() {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(STOP_CHECK) => {}
        }
    }
    stop.cancel();
}

/// Cancels its token when it is dropped, or before.
pub(super) struct CancelOnDrop(pub(super) CancellationToken);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
