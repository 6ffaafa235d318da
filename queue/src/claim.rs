//! Claiming: keeps a backend's buffer filled from the database, fairly across lanes.

use std::{
    ops::RangeInclusive,
    sync::Arc,
    time::{Duration, Instant},
};

use ::metrics::Histogram;
use serde::de::DeserializeOwned;
use tokio::{sync::Notify, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{info, warn};
use uuid::Uuid;

use crate::{
    BackendSettings, DeathCause, JobId, Lane, Retry,
    buffer::{Buffer, Room},
    handle::Shared,
    hold::Hold,
    outcome::{Claim, Ended, Outcome, bounded},
};

/// The lanes that a claim visits at first: twice as many as it wants jobs, within these bounds.
const NARROW: RangeInclusive<i32> = 8..=64;
/// The lanes that a claim visits at most.
const WIDEST: i32 = 1024;
/// Claims without a job in a row, each over lanes not yet seen, before sleeping all the same: with
/// so many lanes paused or full the walk shall not spin.
const EMPTY_CLAIMS: u32 = 32;

/// A claimed job with its arguments, not yet started.
#[derive(Debug)]
pub(crate) struct Ready<A> {
    pub(crate) hold: Arc<Hold>,
    pub(crate) args: A,
}

/// All that the claims of one backend need.
pub(crate) struct Claimer<A> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) settings: BackendSettings,
    pub(crate) buffer: Arc<Buffer<Ready<A>>>,
    pub(crate) pending: TaskTracker,
    pub(crate) stop: CancellationToken,
    pub(crate) durations: Histogram,
    /// There is more to claim than one claim can bring.
    pub(crate) backlog: Notify,
}

/// The answer of `queue.claim`: parallel arrays, and what the walk has learned.
#[derive(sqlx::FromRow)]
struct Claimed {
    ids: Option<Vec<i64>>,
    lanes: Option<Vec<Uuid>>,
    fences: Option<Vec<i32>>,
    attempts: Option<Vec<i16>>,
    max_attempts: Option<Vec<i16>>,
    payloads: Option<Vec<String>>,
    waited_ms: Option<Vec<i64>>,
    next_cursor: Uuid,
    visited: i32,
    more: bool,
    capped: bool,
    next_due_ms: Option<i64>,
}

/// What a claim has learned.
struct Found {
    /// It brought as many jobs as there was room for.
    is_full: bool,
    /// Another claim may find something now.
    more: bool,
    /// A lane has reached its cap.
    capped: bool,
    next_due_ms: Option<i64>,
}

/// Where the walk over the ring of lanes stands.
struct Walk {
    cursor: Uuid,
    /// How often the window has been doubled, because claims came back short.
    widened: u32,
    empty_claims: u32,
}

impl<A: DeserializeOwned + Send + 'static> Claimer<A> {
    /// Claims until stopped.
    pub(crate) async fn run(self: Arc<Self>) {
        let waker = self.shared.wakers.of(self.settings.queue.as_str());
        let mut calls = waker.subscribe();
        let mut walk = Walk::anywhere();
        let mut failures = 0;
        while let Some(room) = self.room().await {
            let mut sleep = Duration::ZERO;
            if self.shared.lease.is_held() {
                // Before the claim: whoever is woken by what comes later must not sleep.
                calls.mark_unchanged();
                waker.set_capped(true);
                match self.claim(&mut walk, room).await {
                    Ok(found) => {
                        failures = 0;
                        waker.set_capped(found.capped);
                        if found.is_full {
                            self.backlog.notify_one();
                        }
                        if !found.more {
                            sleep = self.nap(found.next_due_ms);
                        }
                    }
                    Err(error) => {
                        failures += 1;
                        sleep = Retry::OUTAGE.delay(failures);
                        warn!(%error, queue = %self.settings.queue, "could not claim");
                    }
                }
            } else {
                sleep = Duration::from_millis(20);
            }
            if sleep.is_zero() {
                continue;
            }
            tokio::select! {
                () = self.stop.cancelled() => return,
                // A wake-up does not help against an outage.
                _ = calls.changed(), if failures == 0 => {}
                () = tokio::time::sleep(sleep) => {}
            }
        }
    }

    /// Claims beside [`run`](Self::run) while there is so much to do that claims come back full: while one waits for the
    /// database, the other one's jobs are handed out. Sleeps otherwise, so that a quiet queue is asked once.
    pub(crate) async fn help(self: Arc<Self>) {
        let waker = self.shared.wakers.of(self.settings.queue.as_str());
        let mut walk = Walk::anywhere();
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.backlog.notified() => {}
            }
            while self.shared.lease.is_held() {
                let Some(room) = self.room().await else {
                    return;
                };
                // An error is the other one's to tell and to wait out.
                let Ok(found) = self.claim(&mut walk, room).await else {
                    break;
                };
                if found.capped {
                    waker.set_capped(true);
                }
                if !found.is_full {
                    break;
                }
            }
        }
    }

    /// Room for a claim; none once stopped.
    async fn room(&self) -> Option<Room<'_, Ready<A>>> {
        tokio::select! {
            () = self.stop.cancelled() => None,
            room = self.buffer.room() => Some(room),
        }
    }

    /// How long to sleep when nothing is left to claim: until the next scheduled job, or the poll.
    fn nap(&self, next_due_ms: Option<i64>) -> Duration {
        let poll = self.shared.config.poll;
        let due = next_due_ms
            .and_then(|ms| u64::try_from(ms).ok())
            .map(Duration::from_millis);
        due.unwrap_or(poll).clamp(Duration::from_millis(1), poll)
    }

    /// One claim, from the walk's place on; its jobs are in the buffer afterwards.
    async fn claim(&self, walk: &mut Walk, room: Room<'_, Ready<A>>) -> Result<Found, sqlx::Error> {
        let wanted = room.jobs();
        let since = Instant::now();
        let claimed = self.ask(walk, wanted).await;
        self.durations.record(since.elapsed());
        let claimed = claimed?;
        let got = claimed.ids.as_ref().map_or(0, Vec::len);
        let found = Found {
            is_full: got >= wanted,
            more: walk.go_on(&claimed, got, wanted),
            capped: claimed.capped,
            next_due_ms: claimed.next_due_ms,
        };
        self.accept(claimed, since, room).await;
        Ok(found)
    }

    async fn ask(&self, walk: &Walk, wanted: usize) -> Result<Claimed, sqlx::Error> {
        let mut conn = self.shared.pool.acquire().await?;
        let claim = sqlx::query_as("select * from queue.claim($1, $2, $3, $4, $5, $6)")
            .bind(self.shared.worker)
            .bind(self.settings.queue.as_str())
            .bind(i32::try_from(wanted).unwrap_or(i32::MAX))
            .bind(walk.cursor)
            .bind(walk.window(wanted))
            .bind(
                self.settings
                    .lane_cap
                    .map(|cap| i32::try_from(cap).unwrap_or(i32::MAX)),
            )
            .fetch_one(&mut *conn);
        if let Ok(answer) = timeout(self.shared.config.deadline, claim).await {
            answer
        } else {
            conn.close_on_drop();
            Err(database::late(self.shared.config.deadline))
        }
    }

    /// Decodes what was claimed into the buffer; what cannot be decoded is dead.
    async fn accept(&self, claimed: Claimed, since: Instant, room: Room<'_, Ready<A>>) {
        let mut ready = Vec::new();
        for (claim, payload) in claimed.into_claims(&self.settings) {
            let token = self.pending.token();
            let Some(hold) = Hold::new(claim, since, &self.shared.holds, token) else {
                info!(job = %claim.job, "claimed again what is in hand; the server lost the first claim");
                continue;
            };
            match serde_json::from_str(&payload) {
                Ok(args) => ready.push((claim.lane, Ready { hold, args })),
                Err(error) => {
                    let outcome = Outcome::Dead {
                        cause: DeathCause::Undecodable,
                        error: bounded(error),
                    };
                    self.shared.inbox.send(Ended { hold, outcome }).await;
                }
            }
        }
        if !ready.is_empty() {
            room.fill(ready);
        }
    }

    /// Gives back what was claimed and not started.
    pub(crate) async fn release_all(&self) {
        for Ready { hold, .. } in self.buffer.close() {
            self.shared
                .inbox
                .send(Ended {
                    hold,
                    outcome: Outcome::Released,
                })
                .await;
        }
    }
}

impl Walk {
    /// A walk that begins at any lane, so that several do not contend for the same ones.
    fn anywhere() -> Self {
        Self {
            cursor: Uuid::from_u128(rand::random()),
            widened: 0,
            empty_claims: 0,
        }
    }

    /// How many lanes to visit for that many jobs.
    fn window(&self, wanted: usize) -> i32 {
        let wanted = i32::try_from(wanted).unwrap_or(i32::MAX);
        let narrow = wanted
            .saturating_mul(2)
            .clamp(*NARROW.start(), *NARROW.end());
        narrow
            .checked_shl(self.widened)
            .map_or(WIDEST, |window| window.min(WIDEST))
    }

    /// Notes how far the walk came; false when another claim would find nothing now.
    fn go_on(&mut self, claimed: &Claimed, got: usize, wanted: usize) -> bool {
        self.cursor = claimed.next_cursor;
        let window = self.window(wanted);
        if claimed.visited >= window && got < wanted && window < WIDEST {
            self.widened += 1;
        } else if claimed.visited < window / 2 || got >= wanted {
            self.widened = self.widened.saturating_sub(1);
        }
        self.empty_claims = if got == 0 { self.empty_claims + 1 } else { 0 };
        if self.empty_claims >= EMPTY_CLAIMS {
            self.empty_claims = 0;
            return false;
        }
        claimed.more
    }
}

impl Claimed {
    fn into_claims(self, settings: &BackendSettings) -> impl Iterator<Item = (Claim, String)> {
        let settings = *settings;
        let ids = self.ids.unwrap_or_default().into_iter();
        let lanes = self.lanes.unwrap_or_default().into_iter();
        let fences = self.fences.unwrap_or_default().into_iter();
        let attempts = self.attempts.unwrap_or_default().into_iter();
        let max_attempts = self.max_attempts.unwrap_or_default().into_iter();
        let waited_ms = self.waited_ms.unwrap_or_default().into_iter();
        let payloads = self.payloads.unwrap_or_default().into_iter();
        ids.zip(lanes)
            .zip(fences)
            .zip(attempts.zip(max_attempts))
            .zip(waited_ms)
            .zip(payloads)
            .map(
                move |(((((id, lane), fence), (attempt, max_attempts)), waited_ms), payload)| {
                    let claim = Claim {
                        job: JobId(id),
                        fence,
                        queue: settings.queue,
                        lane: Lane(lane),
                        attempt,
                        max_attempts,
                        waited: Duration::from_millis(u64::try_from(waited_ms).unwrap_or(0)),
                        retry: settings.retry,
                    };
                    (claim, payload)
                },
            )
    }
}
