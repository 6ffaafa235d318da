//! What the operating system knows of a thread: its priority, and the processor time that it has used.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time that this thread has used. Unlike a wall clock it stands while other work runs, so that a busy machine
/// makes nothing look slow.
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Thread;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::Thread;

#[cfg(target_os = "linux")]
mod linux {
    use std::{fs, time::Duration};

    use rustix::{
        process::setpriority_process,
        thread::{Pid, gettid},
    };
    use tracing::debug;

    /// The lowest there is: about a seventieth of what another thread gets that wants the same processor.
    pub(crate) const LOW: i32 = 19;

    /// A thread of this process that still runs.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Thread(Pid);

    impl Thread {
        /// The one that asks.
        pub(crate) fn current() -> Self {
            Self(gettid())
        }

        /// The processor time that it has used; `None` if the system does not tell.
        pub(crate) fn time(self) -> Option<Duration> {
            let path = format!("/proc/self/task/{}/schedstat", self.0.as_raw_nonzero());
            let stat = fs::read_to_string(path).ok()?;
            let nanos = stat.split_whitespace().next()?;
            Some(Duration::from_nanos(nanos.parse().ok()?))
        }

        /// Lowers its priority for good: to raise it again is a privilege.
        pub(crate) fn lower_priority(self) {
            // On Linux, the number of a thread stands for that thread alone.
            if let Err(error) = setpriority_process(Some(self.0), LOW) {
                debug!(%error, "a thread keeps its priority");
            }
        }
    }
}

/// Where a thread has no priority of its own that it may change.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::time::Duration;

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Thread;

    impl Thread {
        pub(crate) const fn current() -> Self {
            Self
        }

        pub(crate) const fn time(self) -> Option<Duration> {
            None
        }

        pub(crate) const fn lower_priority(self) {}
    }
}
