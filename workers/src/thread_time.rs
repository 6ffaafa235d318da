//! The clock by which work on a thread is measured.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time that this thread has used. Unlike a wall clock it stands while other work runs, so that a busy machine
/// makes nothing look slow.
pub(crate) fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
