//! Threads for CPU-bound work: compiling rules, and judging by them.
//!
//! Asynchronous tasks share their threads, so nothing may block one of those for long. When
//! processors are busy, the operating system divides them among threads, without knowing whose work
//! each thread does. At a low priority, long work gets the processor time that short work does not
//! need, and little more. It also uses only half of the processors, so that short work on the
//! others never waits until long work is interrupted. [`Threads`] are for work that is known to be
//! long. [`BriefThreads`] are for work that should be brief but may take long.

mod normal_priority;
mod thread_priority;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
};

use tokio::sync::oneshot;

pub use normal_priority::BriefThreads;
pub use thread_priority::thread_time;

use thread_priority::Thread;

type Work = Box<dyn FnOnce() + Send>;

/// Threads with a low priority. They end when this is dropped and all waiting work is done.
#[derive(Debug)]
pub struct Threads {
    work: mpsc::Sender<Work>,
}

/// The work panicked.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("work on a thread of its own panicked")]
pub struct Panicked;

impl Threads {
    /// Starts this number of threads, with a name of at most 15 bytes.
    ///
    /// # Panics
    /// If the system has no more threads.
    pub fn start(name: &str, threads: usize) -> Self {
        let (work, waiting) = mpsc::channel::<Work>();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..threads {
            let waiting = Arc::clone(&waiting);
            let next = move || {
                let waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
                waiting.recv()
            };
            let working = move || {
                Thread::current().lower_priority();
                while let Ok(work) = next() {
                    work();
                }
            };
            let thread = thread::Builder::new().name(name.to_owned());
            thread.spawn(working).expect("the system has threads");
        }
        Self { work }
    }

    /// Runs work on one of the threads, after earlier work. There is no limit for waiting work:
    /// callers take a slot before. If the caller goes away, the work is still done.
    ///
    /// # Errors
    /// The work panicked.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let (done, outcome) = oneshot::channel();
        let work = move || {
            // Work that panicked has no outcome, and the thread continues.
            if let Ok(outcome) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = done.send(outcome);
            }
        };
        self.work.send(Box::new(work)).map_err(|_| Panicked)?;
        outcome.await.map_err(|_| Panicked)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread::ThreadId};

    use super::*;

    fn this_thread() -> ThreadId {
        thread::current().id()
    }

    #[tokio::test]
    async fn work_that_panics_fails_and_the_next_is_done_on_the_same_thread() {
        let threads = Threads::start("test", 1);
        let first = threads.run(this_thread).await.unwrap();
        assert!(threads.run(|| panic!("a test's")).await.is_err());
        assert_eq!(threads.run(this_thread).await.unwrap(), first);
    }

    #[tokio::test]
    async fn as_many_work_at_once_as_there_are_threads() {
        let threads = Threads::start("test", 2);
        let both = Arc::new(Barrier::new(2));
        let meet = || {
            let both = Arc::clone(&both);
            threads.run(move || {
                both.wait();
                this_thread()
            })
        };
        let (one, other) = tokio::join!(meet(), meet());
        assert_ne!(one.unwrap(), other.unwrap());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn their_priority_is_low_and_that_of_others_is_not() {
        let priority = || rustix::process::nice(0).unwrap();
        let usual = priority();
        let threads = Threads::start("test", 1);
        assert_eq!(threads.run(priority).await.unwrap(), 19);
        assert_eq!(priority(), usual);
    }
}
