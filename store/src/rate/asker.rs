//! Takes shares for the requests that wait, and gives back what others need more.

use std::{collections::HashMap, sync::Arc, time::Duration};

use domain::limit::RateWindow;
use sqlx::PgPool;
use tokio::{
    sync::Mutex,
    time::{Instant, sleep, timeout},
};
use tracing::{debug, warn};
use uuid::Uuid;

use super::{
    Admission, Limited, listener,
    shares::{Shares, Spent},
    windows::{self, Given},
};
use crate::{Error, gather::Call};

type Asked = Call<Limited, Result<Admission, Error>>;
type Waiting = HashMap<Limited, Vec<Asked>>;

/// How long requests wait for what other processes give back. A process that lives answers within milliseconds.
const RECLAIM: Duration = Duration::from_millis(500);
/// Pauses between two looks at what was given back; they double.
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// How long Postgres may take over one statement.
const PATIENCE: Duration = Duration::from_secs(5);

/// Speaks with Postgres for all requests of a process.
pub(super) struct Asker {
    pub(super) pool: PgPool,
    /// Names this process among the holders of shares.
    pub(super) holder: Uuid,
    shares: Arc<Shares>,
    /// One statement at a time. Otherwise a share could arrive after its process has said that it holds nothing.
    turn: Mutex<()>,
}

impl Asker {
    pub(super) fn new(pool: PgPool, shares: Arc<Shares>) -> Self {
        Self {
            pool,
            holder: Uuid::now_v7(),
            shares,
            turn: Mutex::new(()),
        }
    }

    /// Answers a batch of requests; those that must wait for other processes do so apart, and delay no others.
    pub(super) async fn answer(self: Arc<Self>, batch: Vec<Asked>) {
        let mut waiting = Waiting::new();
        for call in batch {
            waiting.entry(call.question).or_default().push(call);
        }
        self.round(&mut waiting).await;
        if !waiting.is_empty() {
            tokio::spawn(async move { self.reclaim(waiting).await });
        }
    }

    /// Calls in what other processes hold, and takes it as it comes. What has not come in time is refused.
    async fn reclaim(&self, mut waiting: Waiting) {
        let wanted: Vec<Limited> = waiting.keys().copied().collect();
        if let Err(error) =
            windows::call_in(&self.pool, listener::CHANNEL, self.holder, &wanted).await
        {
            debug!(%error, "other processes were not asked for their shares");
        }
        let deadline = Instant::now() + RECLAIM;
        let mut pause = SHORTEST_PAUSE;
        while !waiting.is_empty() && Instant::now() < deadline {
            sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
            self.round(&mut waiting).await;
        }
        for (limited, calls) in waiting {
            self.refuse(limited, calls);
        }
    }

    /// Answers whoever can be answered now.
    async fn round(&self, waiting: &mut Waiting) {
        let _turn = self.turn.lock().await;
        // What came in since they began to wait.
        for (limited, calls) in &mut *waiting {
            let taken = std::mem::take(calls);
            *calls = self.pay(*limited, taken);
        }
        waiting.retain(|_, calls| !calls.is_empty());
        if waiting.is_empty() {
            return;
        }
        let wanted: Vec<(Limited, u32)> = waiting
            .iter()
            .map(|(limited, calls)| (*limited, u32::try_from(calls.len()).unwrap_or(u32::MAX)))
            .collect();
        // Before the statement: so a share ends here no later than in Postgres, whatever the clocks say.
        let asked_at = Instant::now();
        let taking = windows::take(&self.pool, self.holder, &wanted);
        let given = match timeout(PATIENCE, taking).await {
            Ok(Ok(given)) => given,
            Ok(Err(error)) => return fail(waiting, &error),
            Err(_) => return fail(waiting, &Error::Unavailable),
        };
        for (limited, _) in wanted {
            let calls = waiting.remove(&limited).unwrap_or_default();
            let left = match given.get(&limited) {
                None => {
                    for call in calls {
                        call.answer(Ok(Admission::UnknownKey));
                    }
                    continue;
                }
                Some(given) => self.share_out(limited, calls, *given, asked_at),
            };
            if !left.is_empty() {
                waiting.insert(limited, left);
            }
        }
    }

    /// Pays with a new share, keeps what is over, and returns the requests that are still to be decided.
    fn share_out(
        &self,
        limited: Limited,
        mut calls: Vec<Asked>,
        given: Given,
        asked_at: Instant,
    ) -> Vec<Asked> {
        let valid = Duration::from_millis(u64::try_from(given.ends_in_ms).unwrap_or(0));
        let expires = asked_at + valid;
        if expires <= Instant::now() {
            // A new minute has begun meanwhile, and with it a new window.
            return calls;
        }
        let wanted = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        let paid = wanted.min(given.share);
        let window = self.shares.put(
            limited,
            given.share - paid,
            given.limit,
            given.rest,
            expires,
        );
        let undecided = calls.split_off(paid as usize);
        for (before, call) in (1..).zip(calls) {
            let remaining = window.remaining + paid - before;
            call.answer(Ok(Admission::Admitted(RateWindow {
                remaining,
                ..window
            })));
        }
        if undecided.is_empty() || given.others {
            return undecided;
        }
        self.refuse(limited, undecided);
        Vec::new()
    }

    /// Pays from what is at hand for as many as it lasts for, and returns the others.
    fn pay(&self, limited: Limited, calls: Vec<Asked>) -> Vec<Asked> {
        let now = Instant::now();
        let mut calls = calls.into_iter();
        while calls.len() > 0 {
            let admission = match self.shares.spend(limited, now) {
                Spent::One(window) => Admission::Admitted(window),
                Spent::Nothing(_) | Spent::Unknown => break,
            };
            if let Some(call) = calls.next() {
                call.answer(Ok(admission));
            }
        }
        calls.collect()
    }

    fn refuse(&self, limited: Limited, calls: Vec<Asked>) {
        let now = Instant::now();
        let window = self.shares.exhaust(limited, now);
        for call in calls {
            call.answer(match window {
                Some(window) => Ok(Admission::Refused(window)),
                None => Err(Error::Unavailable),
            });
        }
    }

    /// Another process needs what this one holds.
    pub(super) async fn give_back(&self, limited: Limited) {
        let _turn = self.turn.lock().await;
        let unspent = self.shares.surrender(limited, Instant::now());
        let giving = windows::give_back(&self.pool, self.holder, limited, unspent);
        let error = match timeout(PATIENCE, giving).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(_) => Error::Unavailable,
        };
        warn!(%error, requests = unspent, "a part of a rate limit was not given back and is lost for this minute");
    }
}

fn fail(waiting: &mut Waiting, error: &Error) {
    let calls: Vec<Asked> = waiting.drain().flat_map(|(_, calls)| calls).collect();
    warn!(%error, calls = calls.len(), "rate limits could not be asked for");
    calls.into_iter().for_each(Call::give_up);
}
