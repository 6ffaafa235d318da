//! Wake-ups: at once within this process, by one NOTIFY per short batch for the others.
//!
//! The notification goes out after the commit and on its own: inside a transaction it makes all commits wait
//! for each other. Any of it may be lost, the poll finds every job within [`Config::poll`](crate::Config).

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sqlx::{PgConnection, PgExecutor, postgres::PgListener};
use tokio::sync::{Notify, watch};
use tracing::{debug, warn};
use uuid::Uuid;

use crate::{Retry, handle::Shared};

/// The channel of the notifications: the sender's id, then the names of queues, separated by commas.
const CHANNEL: &str = "queue_wake";
/// The shortest time between two notifications of a process; the first goes out at once.
const NOTIFY_EVERY: Duration = Duration::from_millis(1);

/// Who sleeps, and what the other processes are still to hear.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    queues: Mutex<HashMap<&'static str, Arc<Waker>>>,
    unsent: Mutex<BTreeSet<&'static str>>,
    sender: Notify,
}

/// Wakes those who claim from one queue in this process.
#[derive(Debug, Default)]
pub(crate) struct Waker {
    /// Counts the calls; a sleeper compares, so that no call between its claim and its sleep is lost.
    calls: watch::Sender<u64>,
    /// Set while a claim may leave jobs behind because their lane is at its cap.
    capped: AtomicBool,
}

impl Waker {
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.calls.subscribe()
    }

    fn wake(&self) {
        self.calls
            .send_modify(|calls| *calls = calls.wrapping_add(1));
    }

    pub(crate) fn set_capped(&self, capped: bool) {
        self.capped.store(capped, Ordering::SeqCst);
    }
}

impl Wakers {
    /// The waker of a queue that this process works on.
    pub(crate) fn of(&self, queue: &'static str) -> Arc<Waker> {
        self.lock_queues().entry(queue).or_default().clone()
    }

    /// New jobs: wakes this process at once and the others soon.
    pub(crate) fn wake(&self, queues: impl IntoIterator<Item = &'static str>) {
        let mut unsent = self.unsent.lock().unwrap_or_else(PoisonError::into_inner);
        for queue in queues {
            self.wake_here(queue);
            unsent.insert(queue);
        }
        if !unsent.is_empty() {
            self.sender.notify_one();
        }
    }

    /// Jobs of a queue ended: wakes this process if a lane of it was at its cap.
    pub(crate) fn room(&self, queue: &'static str) {
        if let Some(waker) = self.lock_queues().get(queue)
            && waker.capped.swap(false, Ordering::SeqCst)
        {
            waker.wake();
        }
    }

    /// Something changed that sleepers of this process should look at.
    pub(crate) fn wake_here(&self, queue: &str) {
        if let Some(waker) = self.lock_queues().get(queue) {
            waker.wake();
        }
    }

    fn wake_all_here(&self) {
        for waker in self.lock_queues().values() {
            waker.wake();
        }
    }

    fn take_unsent(&self) -> BTreeSet<&'static str> {
        std::mem::take(&mut *self.unsent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn lock_queues(&self) -> std::sync::MutexGuard<'_, HashMap<&'static str, Arc<Waker>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the other processes, until the queue closes.
pub(crate) async fn run_notifier(shared: Arc<Shared>) {
    loop {
        tokio::select! {
            () = shared.stopping.cancelled() => return,
            () = shared.wakers.sender.notified() => {}
        }
        let queues: Vec<&str> = shared.wakers.take_unsent().into_iter().collect();
        if !queues.is_empty()
            && let Err(error) = notify(&shared.pool, shared.worker, &queues).await
        {
            debug!(%error, "other processes were not notified; their poll finds the jobs");
        }
        if shared.pause(NOTIFY_EVERY).await {
            return;
        }
    }
}

/// Says that jobs of these queues are due, from a process that has no [`Queue`](crate::Queue) open. Call it after
/// the commit; workers hear of it within milliseconds.
pub async fn wake<Q: AsRef<str>>(conn: &mut PgConnection, queues: &[Q]) -> Result<(), sqlx::Error> {
    if queues.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = queues.iter().map(AsRef::as_ref).collect();
    notify(conn, Uuid::nil(), &names).await
}

async fn notify(
    executor: impl PgExecutor<'_>,
    worker: Uuid,
    queues: &[&str],
) -> Result<(), sqlx::Error> {
    // A notification may be lost anyway, so its commit need not reach the disk.
    sqlx::query("select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)")
        .bind(CHANNEL)
        .bind(format!("{worker} {}", queues.join(",")))
        .execute(executor)
        .await?;
    Ok(())
}

/// Listens to the other processes, until the queue closes.
pub(crate) async fn run_listener(shared: Arc<Shared>) {
    let mut failures = 0;
    loop {
        let error = tokio::select! {
            () = shared.stopping.cancelled() => return,
            result = listen(&shared, &mut failures) => result.err(),
        };
        failures += 1;
        warn!(
            error = error.map(tracing::field::display),
            "not listening; polling until it works again"
        );
        if shared.pause(Retry::OUTAGE.delay(failures)).await {
            return;
        }
    }
}

async fn listen(shared: &Shared, failures: &mut u16) -> Result<(), sqlx::Error> {
    // Of its own, because a listener keeps its connection.
    let pool = database::apart(&shared.pool, 1);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    *failures = 0;
    // Whatever was sent while nobody listened is lost.
    shared.wakers.wake_all_here();
    let own = shared.worker.to_string();
    while let Some(notification) = listener.try_recv().await? {
        match notification.payload().split_once(' ') {
            Some((sender, _)) if sender == own => {}
            Some((_, queues)) => queues
                .split(',')
                .for_each(|queue| shared.wakers.wake_here(queue)),
            None => shared.wakers.wake_all_here(),
        }
    }
    Ok(())
}
