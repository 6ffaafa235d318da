//! Gathers calls that wait at the same time into one statement, without adding delay.
//!
//! A batch is formed only when a runner is free, so it grows while earlier ones commit: a single caller pays nothing, a
//! thousand share a few statements. Everything is bounded: callers that wait, their bytes, a batch's rows and bytes.
//!
//! While the database is away nobody waits in line for it: after a batch was given up, one caller at a time goes to see, and
//! all others are turned away at once. A caller that has gone, because its own patience was shorter, is not asked for.

mod loader;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

pub use self::loader::Loader;
use crate::Error;

/// The bounds of a [`Gather`].
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Calls that may wait; more are refused at once.
    pub waiting: usize,
    /// Bytes that waiting and running calls may hold together.
    pub waiting_bytes: usize,
    /// Calls in one batch.
    pub batch: usize,
    /// Bytes in one batch, unless a single call has more.
    pub batch_bytes: usize,
    /// Batches that run at the same time.
    pub runners: usize,
}

/// One caller: its question, and where the answer goes.
pub struct Call<Q, A> {
    /// What it asks.
    pub question: Q,
    weight: usize,
    reply: oneshot::Sender<A>,
    away: Arc<AtomicBool>,
    _bytes: OwnedSemaphorePermit,
}

impl<Q, A> Call<Q, A> {
    /// Answers the caller, which may have gone away meanwhile.
    pub fn answer(self, answer: A) {
        self.away.store(false, Ordering::Relaxed);
        let _ = self.reply.send(answer);
    }

    /// Tells the caller that the database did not answer.
    pub fn give_up(self) {
        self.away.store(true, Ordering::Relaxed);
    }
}

/// The front of a gathering task. Dropping the last clone ends the task after what waits has run.
pub struct Gather<Q, A> {
    calls: mpsc::Sender<Call<Q, A>>,
    waiting_bytes: usize,
    bytes: Arc<Semaphore>,
    /// The last batch was given up.
    away: Arc<AtomicBool>,
}

impl<Q, A> Clone for Gather<Q, A> {
    fn clone(&self) -> Self {
        Self {
            calls: self.calls.clone(),
            waiting_bytes: self.waiting_bytes,
            bytes: Arc::clone(&self.bytes),
            away: Arc::clone(&self.away),
        }
    }
}

impl<Q: Send + 'static, A: Send + 'static> Gather<Q, A> {
    /// Starts the task; `run` answers all calls of a batch.
    pub fn start<F, R>(bounds: Bounds, run: F) -> Self
    where
        F: Fn(Vec<Call<Q, A>>) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        let (calls, waiting) = mpsc::channel(bounds.waiting);
        tokio::spawn(gather(bounds, waiting, run));
        Self {
            calls,
            waiting_bytes: bounds.waiting_bytes,
            bytes: Arc::new(Semaphore::new(bounds.waiting_bytes)),
            away: Arc::default(),
        }
    }

    /// Asks, and waits for the answer. `weight` is the question's size in bytes, roughly.
    ///
    /// # Errors
    /// [`Error::Overloaded`] at once when too much is waiting; [`Error::Unavailable`] if the batch was given up, and at once
    /// as long as another caller is finding out whether the database is back.
    pub async fn ask(&self, question: Q, weight: usize) -> Result<A, Error> {
        if self.away.load(Ordering::Relaxed) && self.bytes.available_permits() < self.waiting_bytes
        {
            return Err(Error::Unavailable);
        }
        let permits = u32::try_from(weight).unwrap_or(u32::MAX);
        let bytes = Arc::clone(&self.bytes)
            .try_acquire_many_owned(permits)
            .map_err(|_| Error::Overloaded)?;
        let (reply, answer) = oneshot::channel();
        let call = Call {
            question,
            weight,
            reply,
            away: Arc::clone(&self.away),
            _bytes: bytes,
        };
        self.calls.try_send(call).map_err(|_| Error::Overloaded)?;
        answer.await.map_err(|_| Error::Unavailable)
    }

    /// How many callers wait for a runner.
    pub fn waiting(&self) -> usize {
        self.calls.max_capacity() - self.calls.capacity()
    }
}

async fn gather<Q, A, F, R>(bounds: Bounds, mut waiting: mpsc::Receiver<Call<Q, A>>, run: F)
where
    F: Fn(Vec<Call<Q, A>>) -> R,
    R: Future<Output = ()> + Send + 'static,
{
    let runners = Arc::new(Semaphore::new(bounds.runners));
    let mut left_over = None;
    while let Ok(runner) = Arc::clone(&runners).acquire_owned().await {
        let first = loop {
            let next = match left_over.take() {
                Some(call) => Some(call),
                None => waiting.recv().await,
            };
            match next {
                Some(call) if call.reply.is_closed() => {}
                Some(call) => break call,
                None => return,
            }
        };
        let mut bytes = first.weight;
        let mut batch = vec![first];
        while batch.len() < bounds.batch {
            let Ok(call) = waiting.try_recv() else { break };
            if call.reply.is_closed() {
                continue;
            }
            if bytes + call.weight > bounds.batch_bytes {
                left_over = Some(call);
                break;
            }
            bytes += call.weight;
            batch.push(call);
        }
        let running = run(batch);
        tokio::spawn(async move {
            running.await;
            drop(runner);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Mutex, time::Duration};

    use super::*;

    const BOUNDS: Bounds = Bounds {
        waiting: 100,
        waiting_bytes: 1_000,
        batch: 10,
        batch_bytes: 50,
        runners: 1,
    };

    fn sizes(bounds: Bounds) -> (Gather<u32, u32>, Arc<Mutex<Vec<usize>>>) {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&sizes);
        let gather = Gather::start(bounds, move |batch: Vec<Call<u32, u32>>| {
            seen.lock().unwrap().push(batch.len());
            async move {
                tokio::time::sleep(Duration::from_millis(10)).await;
                for call in batch {
                    let double = call.question * 2;
                    call.answer(double);
                }
            }
        });
        (gather, sizes)
    }

    #[tokio::test]
    async fn callers_that_wait_together_share_a_batch_within_its_bounds() {
        let (gather, sizes) = sizes(BOUNDS);
        let calls = (0..30).map(|n| {
            let gather = gather.clone();
            async move { gather.ask(n, 5).await.unwrap() }
        });
        let answers = futures_join(calls).await;
        assert_eq!(answers, (0..30).map(|n| n * 2).collect::<Vec<_>>());
        let sizes = sizes.lock().unwrap();
        assert!(sizes.len() <= 4, "{sizes:?}");
        assert!(sizes.iter().all(|size| *size <= 10), "{sizes:?}");
    }

    #[tokio::test]
    async fn a_batch_is_bounded_in_bytes_and_a_large_call_still_goes() {
        let (gather, sizes) = sizes(BOUNDS);
        let calls = [20, 20, 20, 200].into_iter().map(|weight| {
            let gather = gather.clone();
            async move { gather.ask(1, weight).await.unwrap() }
        });
        futures_join(calls).await;
        assert!(sizes.lock().unwrap().iter().all(|size| *size <= 2));
    }

    #[tokio::test]
    async fn too_much_waiting_is_refused_at_once() {
        let (gather, _) = sizes(Bounds {
            waiting: 2,
            ..BOUNDS
        });
        let calls = (0..50).map(|n| {
            let gather = gather.clone();
            async move { gather.ask(n, 1).await.is_ok() }
        });
        let accepted = futures_join(calls)
            .await
            .into_iter()
            .filter(|ok| *ok)
            .count();
        assert!((1..50).contains(&accepted), "{accepted}");
        assert!(matches!(gather.ask(1, 1_001).await, Err(Error::Overloaded)));
    }

    #[tokio::test]
    async fn while_the_database_is_away_one_caller_at_a_time_goes_to_see() {
        let away = Arc::new(AtomicBool::new(true));
        let (seen, asked) = (Arc::clone(&away), Arc::new(Mutex::new(0)));
        let batches = Arc::clone(&asked);
        let gather = Gather::start(BOUNDS, move |batch: Vec<Call<u32, u32>>| {
            *batches.lock().unwrap() += 1;
            let away = seen.load(Ordering::Relaxed);
            async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                for call in batch {
                    if away {
                        call.give_up();
                    } else {
                        let answer = call.question;
                        call.answer(answer);
                    }
                }
            }
        });
        let ask = || {
            let gather = gather.clone();
            async move { gather.ask(1, 1).await }
        };
        assert!(matches!(ask().await, Err(Error::Unavailable)));
        let answers = futures_join((0..20).map(|_| ask())).await;
        assert!(
            answers
                .iter()
                .all(|answer| matches!(answer, Err(Error::Unavailable)))
        );
        assert_eq!(*asked.lock().unwrap(), 2, "one of twenty went to see");

        away.store(false, Ordering::Relaxed);
        assert!(ask().await.is_ok());
        let answers = futures_join((0..20).map(|_| ask())).await;
        assert!(answers.iter().all(Result::is_ok), "all are served again");
    }

    #[tokio::test]
    async fn a_caller_that_has_gone_is_not_asked_for() {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let questions = Arc::clone(&asked);
        let gather = Gather::start(BOUNDS, move |batch: Vec<Call<u32, u32>>| {
            let questions = Arc::clone(&questions);
            async move {
                tokio::time::sleep(Duration::from_millis(50)).await;
                for call in batch {
                    questions.lock().unwrap().push(call.question);
                    call.answer(0);
                }
            }
        });
        let first = tokio::spawn({
            let gather = gather.clone();
            async move { gather.ask(1, 1).await }
        });
        tokio::time::sleep(Duration::from_millis(10)).await;
        let impatient = tokio::time::timeout(Duration::from_millis(10), gather.ask(2, 1));
        assert!(impatient.await.is_err());
        gather.ask(3, 1).await.unwrap();
        first.await.unwrap().unwrap();
        assert_eq!(*asked.lock().unwrap(), [1, 3]);
    }

    async fn futures_join<T: Send + 'static>(
        calls: impl Iterator<Item = impl Future<Output = T> + Send + 'static>,
    ) -> Vec<T> {
        let tasks: Vec<_> = calls.map(tokio::spawn).collect();
        let mut answers = Vec::new();
        for task in tasks {
            answers.push(task.await.unwrap());
        }
        answers
    }
}
