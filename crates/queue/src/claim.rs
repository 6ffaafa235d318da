//! Claiming: keeps a backend's buffer filled from the database, fairly across groups and lanes.

mod claimed;
mod cursor;
mod health;
mod preclaimed;
mod statement;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ::metrics::Histogram;
use database::Trouble;
use serde::de::DeserializeOwned;
use telemetry::{failed, over};
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::info;

pub(crate) use self::health::Health;
use self::{claimed::Claimed, cursor::Cursor};
use crate::{
    BackendSettings, DeathCause, Retry,
    buffer::{Buffer, Full, Room},
    in_flight::{Claim, InFlightJob},
    outcome::{Ended, Outcome, bounded},
    shared::Shared,
};

/// The shortest time between two claims that look for new groups while groups with jobs have no
/// room here.
const CROWDED: Duration = Duration::from_millis(5);

/// The claims of all queues of this process fail together.
static TROUBLE: Trouble = Trouble::at_once();

/// A claimed job with its arguments, not yet started.
#[derive(Debug)]
pub(crate) struct Ready<A> {
    pub(crate) in_flight: Arc<InFlightJob>,
    pub(crate) args: A,
}

/// Everything that the claims of one backend need.
pub(crate) struct Claimer<A> {
    pub(crate) shared: Arc<Shared>,
    pub(crate) settings: BackendSettings,
    pub(crate) buffer: Arc<Buffer<Ready<A>>>,
    pub(crate) pending: TaskTracker,
    pub(crate) stop: CancellationToken,
    pub(crate) durations: Histogram,
    /// There is more to claim than one claim can bring.
    pub(crate) backlog: Notify,
    pub(crate) health: Health,
}

/// The result of a claim.
struct Found {
    /// It brought as many jobs as there was room for.
    is_full: bool,
    /// How many jobs it brought.
    got: usize,
    /// Another claim may find something now.
    more: bool,
    /// A lane or a group has reached its cap.
    capped: bool,
    /// Groups and lanes that had no room here.
    full: Full,
    next_due_ms: Option<i64>,
}

impl<A: DeserializeOwned + Send + 'static> Claimer<A> {
    /// Claims until stopped.
    pub(crate) async fn run(self: Arc<Self>) {
        let waker = self.shared.local_wakeups.of(self.settings.queue.as_str());
        let mut calls = waker.subscribe();
        let mut cursor = Cursor::anywhere();
        let mut failures = 0;
        while let Some(room) = self.next_room(&mut calls).await {
            // Before the claim, so that no later wake-up is lost.
            calls.mark_unchanged();
            waker.set_capped(true);
            self.health.asks();
            let found = self.claim(&mut cursor, room).await;
            self.health.answered(found.is_ok());
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    failures += 1;
                    let error = database::counted(error);
                    failed!(TROUBLE.failed(&error), %error, queue = %self.settings.queue, "could not claim jobs");
                    // A wake-up does not help against an outage.
                    tokio::select! {
                        () = self.stop.cancelled() => return,
                        () = sleep(Retry::OUTAGE.delay(failures)) => continue,
                    }
                }
            };
            failures = 0;
            over!(TROUBLE.worked(), "claims work again");
            waker.set_capped(found.capped);
            if found.is_full {
                self.backlog.notify_one();
            }
            if found.more {
                continue;
            }
            let called = async {
                if found.got == 0 && !found.full.is_empty() {
                    sleep(CROWDED).await;
                }
                calls.changed().await
            };
            tokio::select! {
                () = self.stop.cancelled() => return,
                _ = called => {}
                () = self.buffer.eased(&found.full) => {}
                () = sleep(self.nap(found.next_due_ms)) => {}
            }
        }
    }

    /// Claims beside [`run`](Self::run) while claims come back full. While one of the two waits for
    /// the database, the other one's jobs are handed out. Otherwise it sleeps, so that a quiet
    /// queue is asked once.
    pub(crate) async fn help(self: Arc<Self>) {
        let waker = self.shared.local_wakeups.of(self.settings.queue.as_str());
        let mut cursor = Cursor::anywhere();
        cursor.is_deep = true;
        loop {
            tokio::select! {
                () = self.stop.cancelled() => return,
                () = self.backlog.notified() => {}
            }
            while self.shared.lease.is_held() {
                let room = tokio::select! {
                    () = self.stop.cancelled() => return,
                    room = self.buffer.room() => room,
                };
                // Only for new groups: the other claimer looks for them.
                if !room.limits().has_room() {
                    break;
                }
                // The other claimer logs errors and waits.
                let Ok(found) = self.claim(&mut cursor, room).await else {
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

    /// Room for a claim. If a call comes that may be for a group without jobs here, the room that
    /// is left. `None` after a stop.
    async fn next_room(&self, calls: &mut watch::Receiver<u64>) -> Option<Room<'_, Ready<A>>> {
        tokio::select! {
            () = self.stop.cancelled() => return None,
            () = self.shared.lease.held() => {}
        }
        let called = async {
            sleep(CROWDED).await;
            let _ = timeout(self.shared.config.poll, calls.changed()).await;
        };
        tokio::select! {
            () = self.stop.cancelled() => return None,
            room = self.buffer.room() => return Some(room),
            () = called => {}
        }
        tokio::select! {
            () = self.stop.cancelled() => None,
            room = self.buffer.some_room() => Some(room),
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

    /// Claims once, from the current place of the walk on. The jobs are in the buffer afterwards.
    async fn claim(
        &self,
        cursor: &mut Cursor,
        room: Room<'_, Ready<A>>,
    ) -> Result<Found, sqlx::Error> {
        let wanted = room.jobs();
        let since = Instant::now();
        let claimed = self.ask(cursor, wanted, room.limits()).await;
        self.durations.record(since.elapsed());
        let claimed = claimed?;
        let got = claimed.ids.as_ref().map_or(0, Vec::len);
        let only = claimed.only_group();
        let most = only.map_or(wanted, |group| wanted.min(room.limits().of(group)).max(1));
        let is_full = got >= most;
        self.health.saw(claimed.capped, got, claimed.visited);
        let mut found = Found {
            is_full,
            got,
            more: cursor.go_on(&claimed, got, most) || is_full,
            capped: claimed.capped,
            full: room.limits().full.clone(),
            next_due_ms: claimed.next_due_ms,
        };
        self.accept(claimed, since, room).await;
        // No other group has jobs: claim again when this group has room.
        if let Some(group) = only
            && found.more
            && !self.buffer.has_room(group)
        {
            found.more = false;
            found.full = Full::group(group);
        }
        Ok(found)
    }

    /// Decodes the claimed jobs into the buffer. Undecodable ones are dead.
    async fn accept(&self, claimed: Claimed, since: Instant, room: Room<'_, Ready<A>>) {
        let mut ready = Vec::new();
        for (claim, payload) in claimed.into_claims(&self.settings) {
            let run = claim.run;
            let Some(in_flight) = self.track(claim, since) else {
                info!(job = %run.job, "claimed a job that this process already has; the server lost the first claim");
                continue;
            };
            match decode(in_flight, &payload) {
                Ok(job) => ready.push((run.group, run.lane, job)),
                Err(undecodable) => self.shared.inbox.send(undecodable).await,
            }
        }
        for (_, _, Ready { in_flight, .. }) in room.fill(ready) {
            self.release(in_flight).await;
        }
    }

    fn track(&self, claim: Claim, since: Instant) -> Option<Arc<InFlightJob>> {
        let token = self.pending.token();
        InFlightJob::new(claim, since, &self.shared.in_flight_jobs, token)
    }

    /// Gives back the jobs that were claimed and not started.
    pub(crate) async fn release_all(&self) {
        for Ready { in_flight, .. } in self.buffer.close() {
            self.release(in_flight).await;
        }
    }

    async fn release(&self, in_flight: Arc<InFlightJob>) {
        let outcome = Outcome::Released;
        self.shared.inbox.send(Ended { in_flight, outcome }).await;
    }
}

/// A claimed job with its arguments, or its end if they cannot be decoded.
fn decode<A: DeserializeOwned>(
    in_flight: Arc<InFlightJob>,
    payload: &str,
) -> Result<Ready<A>, Ended> {
    match serde_json::from_str(payload) {
        Ok(args) => Ok(Ready { in_flight, args }),
        Err(error) => {
            let outcome = Outcome::Dead {
                cause: DeathCause::Undecodable,
                error: bounded(error),
            };
            Err(Ended { in_flight, outcome })
        }
    }
}
