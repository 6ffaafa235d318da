//! Those who wait for verdicts: a request that submits an item and stays open until the item is decided.
//!
//! A request takes a place here before its item is stored, and the item's jobs say that it is awaited
//! ([`MediaJob::awaited`](crate::jobs::MediaJob::awaited)). When the verdict is committed, the process that made it gives it to the request
//! if that is its own. Otherwise it tells the other processes, with one notification for all verdicts that came meanwhile. A notification
//! can get lost, so a request reads the status once more when its time is over.

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use database::{Trouble, connection_shortage::unless_scarce};
use domain::{
    id::{MediaId, TeamId},
    media::Status,
};
use fair_share::{Limit, Share, Shares, Spent};
use metrics::{Histogram, counter, histogram};
use sqlx::{PgPool, postgres::PgListener};
use telemetry::{failed, over};
use tokio::{
    sync::{Notify, mpsc},
    time::sleep,
};
use tokio_util::task::AbortOnDropHandle;
use tracing::debug;
use uuid::Uuid;

/// Requests of one process that can wait at the same time. Each takes a few kilobytes and no thread. A single team gets a half.
pub const PLACES: usize = 8_192;
/// Verdicts that other processes are not told of yet.
const UNTOLD: usize = 16_384;

/// The awaited items of a process. Clones are the same.
#[derive(Clone)]
pub struct VerdictWaiters {
    waiting: Arc<Waiting>,
    /// Where verdicts go that other processes may wait for. None: this process makes no verdicts.
    untold: Option<mpsc::Sender<MediaId>>,
    _tasks: Arc<Vec<AbortOnDropHandle<()>>>,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It answers requests, so it listens for verdicts.
    Interface,
    /// It makes verdicts, so it tells of them.
    Workers,
    /// Both.
    Both,
}

/// The requests that wait.
struct Waiting {
    places: Arc<Shares<TeamId>>,
    requests: Mutex<HashMap<MediaId, Vec<Arc<Request>>>>,
}

/// A request that waits.
#[derive(Debug, Default)]
struct Request {
    woken: Notify,
    verdict: Mutex<Option<Verdict>>,
}

impl Request {
    fn wake(&self, verdict: Option<Verdict>) {
        if verdict.is_some() {
            *self.verdict.lock().unwrap_or_else(PoisonError::into_inner) = verdict;
        }
        self.woken.notify_one();
    }
}

/// A verdict that is committed.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Never `pending`.
    pub status: Status,
    /// `moderation_details` as JSON.
    pub details: Arc<str>,
}

/// What a run of a job owes those who wait for its item.
#[derive(Debug)]
pub struct Promise {
    awaited: VerdictWaiters,
    /// Whether the verdict of the run became the item's. Somebody else may have decided before.
    is_stored: AtomicBool,
}

impl Promise {
    /// Nothing is stored yet.
    pub fn new(awaited: VerdictWaiters) -> Self {
        Self {
            awaited,
            is_stored: AtomicBool::new(false),
        }
    }

    /// Notes, in the transaction, whether the verdict of the run is the item's.
    pub(crate) fn note(&self, is_stored: bool) {
        self.is_stored.store(is_stored, Ordering::Relaxed);
    }

    /// The transaction is committed.
    pub(crate) fn keep(&self, media: MediaId, status: Status, details: &str) {
        let verdict = self.is_stored.load(Ordering::Relaxed).then(|| Verdict {
            status,
            details: details.into(),
        });
        self.awaited.decided(media, verdict.as_ref());
    }
}

impl VerdictWaiters {
    /// Starts to listen, to tell, or both.
    pub fn start(pool: &PgPool, part: Part) -> Self {
        Self::with_places(pool, part, PLACES)
    }

    fn with_places(pool: &PgPool, part: Part, places: usize) -> Self {
        let waiting = Arc::new(Waiting {
            places: Shares::new(places),
            requests: Mutex::default(),
        });
        let mut tasks = Vec::new();
        if part != Part::Workers {
            // Shown as 0 from the start: a counter that first appears with its first incident shows no increase.
            for ended in Ended::ALL {
                ended.count(0);
            }
            let _shown = times();
            let listening = listen(pool.clone(), Arc::clone(&waiting));
            tasks.push(AbortOnDropHandle::new(tokio::spawn(listening)));
        }
        let untold = (part != Part::Interface).then(|| {
            let (sender, receiver) = mpsc::channel(UNTOLD);
            let telling = tell(pool.clone(), receiver);
            tasks.push(AbortOnDropHandle::new(tokio::spawn(telling)));
            sender
        });
        Self {
            waiting,
            untold,
            _tasks: Arc::new(tasks),
        }
    }

    /// A place to wait for an item's verdict in.
    ///
    /// # Errors
    /// The team has used up its share of the places.
    pub fn expect(&self, team: TeamId, media: MediaId) -> Result<Expected, Spent> {
        let place = self.waiting.places.try_take(team, 1, Limit::Fair)?;
        let request = Arc::new(Request::default());
        let mut requests = self.waiting.lock();
        requests
            .entry(media)
            .or_default()
            .push(Arc::clone(&request));
        drop(requests);
        Ok(Expected {
            media,
            request,
            waiting: Arc::clone(&self.waiting),
            _place: place,
        })
    }

    /// How many requests wait.
    pub fn waiting(&self) -> usize {
        self.waiting.places.in_use()
    }

    /// Says that the verdict of an item is committed, and which it is, if that is certain.
    pub fn decided(&self, media: MediaId, verdict: Option<&Verdict>) {
        if !self.waiting.wake(media, verdict)
            && let Some(untold) = &self.untold
        {
            // If there is no room, the request reads the status when its time is over.
            let _ = untold.try_send(media);
        }
    }
}

impl fmt::Debug for VerdictWaiters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerdictWaiters").finish_non_exhaustive()
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<MediaId, Vec<Arc<Request>>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes those that wait for this item. Returns whether there was one.
    fn wake(&self, media: MediaId, verdict: Option<&Verdict>) -> bool {
        let requests = self.lock();
        let woken = requests.get(&media);
        for request in woken.into_iter().flatten() {
            request.wake(verdict.cloned());
        }
        woken.is_some()
    }

    /// Wakes all: verdicts may have come that nobody told of.
    fn wake_all(&self) {
        for request in self.lock().values().flatten() {
            request.wake(None);
        }
    }
}

/// A place in which a request waits. It is free again when this is dropped.
#[derive(Debug)]
pub struct Expected {
    media: MediaId,
    request: Arc<Request>,
    waiting: Arc<Waiting>,
    _place: Share<TeamId>,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The verdict was there.
    Decided,
    /// The time was over, and there was no verdict.
    Over,
    /// The verdict was there when the time was over. Nobody had told of it.
    Unnoticed,
    /// There was no place to wait in.
    Refused,
}

impl Ended {
    const ALL: [Self; 4] = [Self::Decided, Self::Over, Self::Unnoticed, Self::Refused];

    /// Counts a wait that ended so, and records how long it took. One that was refused took no time.
    pub fn record(self, took: Duration) {
        self.count(1);
        if self != Self::Refused {
            times().record(took);
        }
    }

    fn count(self, by: u64) {
        let outcome = match self {
            Self::Decided => "decided",
            Self::Over => "over",
            Self::Unnoticed => "unnoticed",
            Self::Refused => "refused",
        };
        counter!("gatehouse_waits_total", "outcome" => outcome).increment(by);
    }
}

/// How long requests waited.
fn times() -> Histogram {
    histogram!("gatehouse_wait_seconds")
}

impl Expected {
    /// Waits until the item may have been decided since the last call. None: read its status.
    pub async fn woken(&self) -> Option<Verdict> {
        self.request.woken.notified().await;
        let verdict = self.request.verdict.lock();
        verdict.unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Expected {
    fn drop(&mut self) {
        let mut requests = self.waiting.lock();
        if let Some(waiting) = requests.get_mut(&self.media) {
            waiting.retain(|other| !Arc::ptr_eq(other, &self.request));
            if waiting.is_empty() {
                requests.remove(&self.media);
            }
        }
    }
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}

/// The channel. A notification has ids of items, separated by commas.
const CHANNEL: &str = "gatehouse_decided";
/// Ids in one notification. Postgres allows less than 8,000 bytes, and an id takes 33.
const IDS: usize = 240;
/// After a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells the other processes, until this one makes no more verdicts. What comes during one notification is in the next.
async fn tell(pool: PgPool, mut decided: mpsc::Receiver<MediaId>) {
    let mut ids = Vec::new();
    while decided.recv_many(&mut ids, IDS).await > 0 {
        let payload: Vec<String> = ids
            .drain(..)
            .map(|media| media.as_uuid().simple().to_string())
            .collect();
        // It can get lost anyway, so the commit does not wait for the disk.
        let told = sqlx::query!(
            "select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)",
            CHANNEL,
            payload.join(","),
        );
        if let Err(error) = told.fetch_one(&pool).await {
            debug!(%error, "cannot tell other processes of verdicts; their requests wait until their time is over");
        }
    }
}

/// Listens for ever, unless connections are scarce. While it does not, requests wait until their time is over.
async fn listen(pool: PgPool, waiting: Arc<Waiting>) {
    let trouble = Trouble::in_turn();
    loop {
        if let Some(Err(error)) = unless_scarce(listen_once(&pool, &waiting, &trouble)).await {
            let error = database::counted(error);
            failed!(trouble.failed(&error), %error, "cannot listen for verdicts of other processes; until it works again, requests with `Prefer: wait` are answered when their time is over");
        }
        sleep(PAUSE).await;
    }
}

async fn listen_once(
    pool: &PgPool,
    waiting: &Waiting,
    trouble: &Trouble,
) -> Result<(), sqlx::Error> {
    // A pool of its own, because a listener keeps its connection.
    let pool = database::separate_pool(pool, 1);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANNEL).await?;
    over!(
        trouble.worked(),
        "listening for verdicts of other processes again"
    );
    // What was told while nobody listened is lost.
    waiting.wake_all();
    while let Some(notification) = listener.try_recv().await? {
        for id in notification.payload().split(',') {
            if let Ok(id) = id.parse::<Uuid>() {
                waiting.wake(MediaId::from(id), None);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
