//! Threads with normal priority for work that should be brief.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::Duration,
};

use tokio::{sync::oneshot, time::timeout};

use crate::{Panicked, Work, thread_priority::Thread, thread_time};

/// Threads that are started when there is work. Some of them stay for the next work. They do not
/// limit how much runs at once: callers take a slot before.
#[derive(Debug)]
pub struct BriefThreads {
    name: String,
    idle: Arc<Mutex<Vec<Idle>>>,
    most_idle: usize,
}

/// A thread that waits for work. It ends when this is dropped.
type Idle = mpsc::Sender<Work>;

/// The stage of a piece of work.
#[derive(Debug, Default)]
enum Stage {
    #[default]
    Waiting,
    /// It runs on this thread, which had used this much processor time before.
    Begun(Thread, Duration),
    /// It has lost its priority, and its thread with it.
    Lowered,
    Done,
}

impl BriefThreads {
    /// No thread is started yet. At most `most_idle` threads stay when there is no work. The name
    /// has at most 15 bytes.
    pub fn new(name: &str, most_idle: usize) -> Self {
        Self {
            name: name.to_owned(),
            idle: Arc::default(),
            most_idle,
        }
    }

    /// Runs work on a thread. Work that uses more than `brief` processor time loses its priority
    /// and continues; `lowered` is called then. If the caller goes away, the work is still done.
    ///
    /// # Errors
    /// The work panicked.
    ///
    /// # Panics
    /// If the system has no more threads.
    pub async fn run<T: Send + 'static>(
        &self,
        brief: Duration,
        work: impl FnOnce() -> T + Send + 'static,
        lowered: impl FnOnce(),
    ) -> Result<T, Panicked> {
        let stage = Arc::new(Mutex::new(Stage::default()));
        let (done, mut outcome) = oneshot::channel();
        let worker = lock(&self.idle).pop().unwrap_or_else(|| self.start());
        let (next, idle, most_idle) = (worker.clone(), Arc::clone(&self.idle), self.most_idle);
        let at_work = Arc::clone(&stage);
        let job = Box::new(move || {
            let thread = Thread::current();
            *lock(&at_work) = Stage::Begun(thread, thread_time());
            let outcome = catch_unwind(AssertUnwindSafe(work));
            // The priority is lowered under the lock, so it is never the priority of later work.
            let ended = std::mem::replace(&mut *lock(&at_work), Stage::Done);
            let mut idle = lock(&idle);
            if !matches!(ended, Stage::Lowered) && idle.len() < most_idle {
                idle.push(next);
            }
            drop(idle);
            // Work that panicked has no outcome.
            if let Ok(outcome) = outcome {
                let _ = done.send(outcome);
            }
        });
        worker.send(job).map_err(|_| Panicked)?;
        drop(worker);
        while !has_become_long(&stage, brief) {
            if let Ok(outcome) = timeout(brief, &mut outcome).await {
                return outcome.map_err(|_| Panicked);
            }
        }
        lowered();
        outcome.await.map_err(|_| Panicked)
    }

    fn start(&self) -> Idle {
        let (work, waiting) = mpsc::channel::<Work>();
        let thread = thread::Builder::new().name(self.name.clone());
        let working = move || waiting.into_iter().for_each(|work| work());
        thread.spawn(working).expect("the system has threads");
        work
    }
}

/// Lowers the priority of work that has used more than `brief` processor time.
fn has_become_long(stage: &Mutex<Stage>, brief: Duration) -> bool {
    let mut stage = lock(stage);
    let Stage::Begun(thread, before) = *stage else {
        return false;
    };
    let is_long = thread
        .time()
        .is_some_and(|now| now.saturating_sub(before) >= brief);
    if is_long {
        thread.lower_priority();
        *stage = Stage::Lowered;
    }
    is_long
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::thread::{ThreadId, current};

    use super::*;

    const BRIEF: Duration = Duration::from_millis(20);

    fn busy_for(time: Duration) -> ThreadId {
        let end = thread_time() + time;
        while thread_time() < end {}
        current().id()
    }

    async fn run(threads: &BriefThreads, time: Duration) -> (ThreadId, bool) {
        let mut has_lost = false;
        let worked = threads.run(BRIEF, move || busy_for(time), || has_lost = true);
        let worked = worked.await.unwrap();
        (worked, has_lost)
    }

    #[tokio::test]
    async fn brief_work_is_done_on_threads_that_stay_and_keep_their_priority() {
        let threads = BriefThreads::new("test", 1);
        let (first, has_lost) = run(&threads, Duration::ZERO).await;
        assert!(!has_lost);
        for _ in 0..10 {
            assert_eq!(run(&threads, Duration::ZERO).await, (first, false));
        }
        // Work that only waits is brief, however long it waits.
        let slept = threads.run(BRIEF, || thread::sleep(5 * BRIEF), || panic!("it is long"));
        slept.await.unwrap();
        assert_eq!(run(&threads, Duration::ZERO).await, (first, false));
        let work = || -> ThreadId { panic!("a test's") };
        assert!(threads.run(BRIEF, work, || ()).await.is_err());
        // Printing the panic may have taken long.
        assert!(!run(&threads, Duration::ZERO).await.1);
    }

    #[tokio::test]
    async fn as_much_is_worked_on_at_once_as_is_asked_for_and_some_threads_stay() {
        let threads = BriefThreads::new("test", 2);
        let both = Arc::new(std::sync::Barrier::new(3));
        let meet = || {
            let both = Arc::clone(&both);
            threads.run(BRIEF, move || both.wait().is_leader(), || ())
        };
        let (a, b, c) = tokio::join!(meet(), meet(), meet());
        assert!(a.is_ok() && b.is_ok() && c.is_ok());
        assert_eq!(lock(&threads.idle).len(), 2);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn long_work_loses_its_priority_and_its_thread_has_no_other_work() {
        let priority = || rustix::process::nice(0).unwrap();
        let threads = BriefThreads::new("test", 1);
        let usual = priority();
        let mut has_lost = false;
        let long = move || {
            let thread = busy_for(10 * BRIEF);
            (thread, priority())
        };
        let (thread, now) = threads.run(BRIEF, long, || has_lost = true).await.unwrap();
        assert!(has_lost);
        assert_eq!(now, 19);
        let (next, has_lost) = run(&threads, Duration::ZERO).await;
        assert!(next != thread && !has_lost);
        let now = threads.run(BRIEF, priority, || ()).await.unwrap();
        assert_eq!(now, usual);
    }
}
