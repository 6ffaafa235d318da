//! Gathers calls that wait at the same time into one statement, without adding delay.
//!
//! A batch is formed only when a runner is free, so it grows while earlier ones commit: a single
//! caller pays nothing, a thousand share a few statements. Everything is bounded: callers that
//! wait, their bytes, a batch's rows and bytes.
//!
//! Callers belong to holders, such as teams ([`Gather::shared`]). A holder gets its share of the
//! waiting places and bytes, and a batch takes from the holders in turn: the burst of one team
//! delays another team's call by one place, not by a thousand.
//!
//! While the database is away, nobody waits for it: when a batch is given up, all waiting callers
//! are told at once. After that, one caller at a time tests the database, and all others are
//! refused. The question of a caller that has gone away is not asked.

mod loader;

use std::{
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use fair_share::{Limit, RoundRobin, Share, Shares};
use tokio::sync::{Semaphore, mpsc, oneshot};

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

/// The handle of a gathering task. When the last clone is dropped, the task runs what waits and
/// ends.
pub struct Gather<Q, A, H: Clone + Eq + Hash = ()> {
    /// What one caller asks at the same time stays together.
    calls: mpsc::Sender<Vec<Waiting<Q, A, H>>>,
    limit: Limit,
    places: Arc<Shares<H>>,
    bytes: Arc<Shares<H>>,
    /// The last batch was given up.
    away: Arc<AtomicBool>,
}

impl<Q, A, H: Clone + Eq + Hash> Clone for Gather<Q, A, H> {
    fn clone(&self) -> Self {
        Self {
            calls: self.calls.clone(),
            limit: self.limit,
            places: Arc::clone(&self.places),
            bytes: Arc::clone(&self.bytes),
            away: Arc::clone(&self.away),
        }
    }
}

impl<Q: Send + 'static, A: Send + 'static> Gather<Q, A> {
    /// Starts the task for callers that all belong together; `run` answers all calls of a batch.
    pub fn start<F, R>(bounds: Bounds, run: F) -> Self
    where
        F: Fn(Vec<Call<Q, A>>) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Self::spawn(bounds, Limit::Capacity, run)
    }

    /// Asks, and waits for the answer. See [`Gather::ask_for`].
    pub async fn ask(&self, question: Q, weight: usize) -> Result<A, Error> {
        self.ask_for((), question, weight).await
    }
}

impl<Q, A, H> Gather<Q, A, H>
where
    Q: Send + 'static,
    A: Send + 'static,
    H: Clone + Eq + Hash + Send + Sync + 'static,
{
    /// Starts the task for callers of several holders, none of which may take everything. `run`
    /// answers all calls of a batch.
    pub fn shared<F, R>(bounds: Bounds, run: F) -> Self
    where
        F: Fn(Vec<Call<Q, A, H>>) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        Self::spawn(bounds, Limit::Fair, run)
    }

    fn spawn<F, R>(bounds: Bounds, limit: Limit, run: F) -> Self
    where
        F: Fn(Vec<Call<Q, A, H>>) -> R + Send + 'static,
        R: Future<Output = ()> + Send + 'static,
    {
        // Never full: each sender holds one of the places.
        let (calls, arriving) = mpsc::channel(bounds.waiting);
        let away = Arc::<AtomicBool>::default();
        tokio::spawn(gather(bounds, arriving, Arc::clone(&away), run));
        Self {
            calls,
            limit,
            places: Shares::new(bounds.waiting),
            bytes: Shares::new(bounds.waiting_bytes),
            away,
        }
    }

    /// Asks for a holder, and waits for the answer. `weight` is the question's size in bytes,
    /// roughly.
    ///
    /// # Errors
    /// [`Error::Overloaded`] at once when too much is waiting; [`Error::Unavailable`] if the batch
    /// was given up, and at once as long as another caller is finding out whether the database is
    /// back.
    pub async fn ask_for(&self, holder: H, question: Q, weight: usize) -> Result<A, Error> {
        self.ask_since(Instant::now(), holder, question, weight)
            .await
    }

    /// Asks for a caller that has been waiting since `since`. See [`Gather::ask_for`].
    pub(crate) async fn ask_since(
        &self,
        since: Instant,
        holder: H,
        question: Q,
        weight: usize,
    ) -> Result<A, Error> {
        let (waiting, answer) = self.wait(since, &holder, question, weight)?;
        self.calls
            .try_send(vec![waiting])
            .map_err(|_| Error::Overloaded)?;
        answer.await.map_err(|_| Error::Unavailable)
    }

    /// Asks several things at once, and waits for all answers. They share a batch if its bounds
    /// allow. See [`Gather::ask_for`].
    pub async fn ask_all_for(
        &self,
        holder: H,
        questions: impl IntoIterator<Item = (Q, usize)>,
    ) -> Vec<Result<A, Error>> {
        let since = Instant::now();
        let mut together = Vec::new();
        let mut answers = Vec::new();
        for (question, weight) in questions {
            let waiting = self.wait(since, &holder, question, weight);
            answers.push(waiting.map(|(waiting, answer)| {
                together.push(waiting);
                answer
            }));
        }
        // What cannot be sent is dropped. Its caller gets the error below.
        let sent = self.calls.try_send(together).is_ok();
        let mut got = Vec::with_capacity(answers.len());
        for answer in answers {
            got.push(match answer {
                Ok(_) if !sent => Err(Error::Overloaded),
                Ok(answer) => answer.await.map_err(|_| Error::Unavailable),
                Err(error) => Err(error),
            });
        }
        got
    }

    /// Takes a waiting place.
    fn wait(
        &self,
        since: Instant,
        holder: &H,
        question: Q,
        weight: usize,
    ) -> Result<Placed<Q, A, H>, Error> {
        if self.away.load(Ordering::Relaxed) && self.bytes.in_use() > 0 {
            return Err(Error::Unavailable);
        }
        let take = |of: &Arc<Shares<H>>, amount| {
            of.try_take(holder.clone(), amount, self.limit)
                .map_err(|_| Error::Overloaded)
        };
        let bytes = take(&self.bytes, weight.max(1))?;
        let place = take(&self.places, 1)?;
        let (reply, answer) = oneshot::channel();
        let call = Call {
            question,
            since,
            weight,
            reply,
            away: Arc::clone(&self.away),
            _bytes: bytes,
        };
        let holder = holder.clone();
        let waiting = Waiting {
            holder,
            call,
            place,
        };
        Ok((waiting, answer))
    }

    /// How many callers wait for a runner.
    pub fn waiting(&self) -> usize {
        self.places.in_use()
    }

    /// How many callers may wait.
    pub fn capacity(&self) -> usize {
        self.places.capacity()
    }
}

/// One caller: its question, and where the answer goes.
pub struct Call<Q, A, H: Clone + Eq + Hash = ()> {
    /// What it asks.
    pub question: Q,
    /// Since when it waits.
    pub since: Instant,
    weight: usize,
    reply: oneshot::Sender<A>,
    away: Arc<AtomicBool>,
    _bytes: Share<H>,
}

impl<Q, A, H: Clone + Eq + Hash> Call<Q, A, H> {
    /// Answers the caller, which may have gone away in the meantime.
    pub fn answer(self, answer: A) {
        self.away.store(false, Ordering::Relaxed);
        let _ = self.reply.send(answer);
    }

    /// Whether the caller has gone away.
    pub(crate) fn is_over(&self) -> bool {
        self.reply.is_closed()
    }

    /// Tells the caller that the database did not answer.
    pub fn give_up(self) {
        self.away.store(true, Ordering::Relaxed);
    }
}

/// A call on its way to a batch.
struct Waiting<Q, A, H: Clone + Eq + Hash> {
    holder: H,
    call: Call<Q, A, H>,
    /// Its waiting place.
    place: Share<H>,
}

/// A call that has a place, and the receiver of its answer.
type Placed<Q, A, H> = (Waiting<Q, A, H>, oneshot::Receiver<A>);

async fn gather<Q, A, H, F, R>(
    bounds: Bounds,
    mut arriving: mpsc::Receiver<Vec<Waiting<Q, A, H>>>,
    away: Arc<AtomicBool>,
    run: F,
) where
    H: Clone + Eq + Hash,
    F: Fn(Vec<Call<Q, A, H>>) -> R,
    R: Future<Output = ()> + Send + 'static,
{
    let runners = Arc::new(Semaphore::new(bounds.runners));
    let mut lines = RoundRobin::default();
    while let Ok(runner) = Arc::clone(&runners).acquire_owned().await {
        if away.load(Ordering::Relaxed) {
            // The last batch was given up, and these calls would wait as long for nothing.
            while arriving.try_recv().is_ok() {}
            while lines.pop().is_some() {}
        }
        let batch = loop {
            while let Ok(together) = arriving.try_recv() {
                line_up(&mut lines, together);
            }
            let batch = next_batch(bounds, &mut lines);
            if !batch.is_empty() {
                break batch;
            }
            match arriving.recv().await {
                Some(together) => line_up(&mut lines, together),
                None => return,
            }
        };
        let running = run(batch);
        tokio::spawn(async move {
            running.await;
            drop(runner);
        });
    }
}

fn line_up<Q, A, H: Clone + Eq + Hash>(
    lines: &mut RoundRobin<H, Waiting<Q, A, H>>,
    together: Vec<Waiting<Q, A, H>>,
) {
    for waiting in together {
        lines.push(&waiting.holder.clone(), waiting);
    }
}

/// The next calls of all holders in turn. Empty if nobody waits any more.
fn next_batch<Q, A, H: Clone + Eq + Hash>(
    bounds: Bounds,
    lines: &mut RoundRobin<H, Waiting<Q, A, H>>,
) -> Vec<Call<Q, A, H>> {
    let mut batch: Vec<Call<Q, A, H>> = Vec::new();
    let mut bytes = 0;
    while batch.len() < bounds.batch
        && let Some((holder, waiting)) = lines.pop()
    {
        if waiting.call.reply.is_closed() {
            continue;
        }
        if !batch.is_empty() && bytes + waiting.call.weight > bounds.batch_bytes {
            lines.put_back_first(&holder, waiting);
            break;
        }
        bytes += waiting.call.weight;
        let Waiting { call, place, .. } = waiting;
        drop(place);
        batch.push(call);
    }
    batch
}

#[cfg(test)]
mod tests;
