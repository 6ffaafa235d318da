//! What the operating system knows about a thread: its priority, and the processor time that it has
//! used.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// The processor time that this thread has used. Unlike a wall clock, it stops while other work
/// runs, so a busy machine does not make work look slow.
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
        io,
        process::setpriority_process,
        thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity},
    };
    use tracing::debug;

    /// The lowest priority: about a seventieth of the time of a normal thread on the same
    /// processor.
    pub(crate) const LOW: i32 = 19;

    /// A thread of this process that still runs.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Thread(Pid);

    impl Thread {
        pub(crate) fn current() -> Self {
            Self(gettid())
        }

        /// The processor time that it has used. `None` if the system does not say.
        pub(crate) fn time(self) -> Option<Duration> {
            let path = format!("/proc/self/task/{}/schedstat", self.0.as_raw_nonzero());
            let stat = fs::read_to_string(path).ok()?;
            let nanos = stat.split_whitespace().next()?;
            Some(Duration::from_nanos(nanos.parse().ok()?))
        }

        /// Lowers its priority permanently (raising it again needs a privilege), and leaves half of
        /// the processors to others.
        ///
        /// A thread that wakes up may wait milliseconds until a thread with the lowest priority is
        /// interrupted, and a request wakes threads dozens of times. So some processors never run
        /// such threads.
        pub(crate) fn lower_priority(self) {
            // On Linux, the id of a thread applies to that thread alone.
            let lowered = setpriority_process(Some(self.0), LOW).and_then(|()| self.leave_half());
            if let Err(error) = lowered {
                debug!(%error, "could not change a thread's priority or CPUs");
            }
        }

        fn leave_half(self) -> io::Result<()> {
            let all = sched_getaffinity(Some(self.0))?;
            sched_setaffinity(Some(self.0), &upper_half(&all))
        }
    }

    /// The upper half of some processors: the smaller half of an odd number, but at least one.
    fn upper_half(all: &CpuSet) -> CpuSet {
        let left = (all.count() / 2).max(1);
        let mut half = CpuSet::new();
        let own = (0..CpuSet::MAX_CPU).rev().filter(|cpu| all.is_set(*cpu));
        for cpu in own.take(left as usize) {
            half.set(cpu);
        }
        half
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn set(cpus: &[usize]) -> CpuSet {
            let mut set = CpuSet::new();
            for cpu in cpus {
                set.set(*cpu);
            }
            set
        }

        #[test]
        fn half_of_the_processors_are_left_to_others_unless_there_is_one() {
            for (all, half) in [
                (&[3][..], &[3][..]),
                (&[0, 1], &[1]),
                (&[0, 2, 5], &[5]),
                (&[0, 1, 6, 7], &[6, 7]),
            ] {
                assert!(upper_half(&set(all)) == set(half), "{all:?}");
            }
        }
    }
}

/// For systems where a thread cannot change its own priority.
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
