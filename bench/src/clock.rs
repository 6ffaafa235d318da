//! The machine's monotonic clock. All processes share it, so times of different processes can be
//! compared.

use rustix::time::{ClockId, clock_gettime};

/// Microseconds on that clock.
pub(crate) fn now_us() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    let (seconds, nanos) = (now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs());
    seconds * 1_000_000 + nanos / 1_000
}
