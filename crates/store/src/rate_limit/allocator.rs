//! Allocates shares to waiting requests, and gives back what other processes need.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use database::Trouble;
use sqlx::PgPool;
use telemetry::{failed, over};
use tokio::{
    sync::Mutex,
    time::{Instant, sleep, timeout},
};
use tracing::debug;
use uuid::Uuid;

use super::{
    Admission, CHANNEL, Limited, Request, message,
    shares::{Shares, Spent},
    windows::{self, Wanted},
};
use crate::{Error, gather::Call};

/// Statements about rate limits, of the whole process.
static TROUBLE: Trouble = Trouble::at_once();

type Asked = Call<Request, Result<Admission, Error>>;
type Waiting = HashMap<Request, Vec<Asked>>;

/// How long requests wait for what other processes give back. A live process answers within
/// milliseconds.
const RECLAIM: Duration = Duration::from_millis(500);
/// Pauses between two looks at what was given back; they double.
const SHORTEST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// How long Postgres may take over one statement.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks Postgres for all requests of a process.
pub(super) struct Allocator {
    pub(super) pool: PgPool,
    /// Names this process among the holders of shares.
    pub(super) holder: Uuid,
    shares: Arc<Shares>,
    /// One statement at a time. Otherwise a share could arrive after its process has said that it
    /// holds nothing.
    turn: Mutex<()>,
}

impl Allocator {
    pub(super) fn new(pool: PgPool, shares: Arc<Shares>) -> Self {
        Self {
            pool,
            holder: Uuid::now_v7(),
            shares,
            turn: Mutex::new(()),
        }
    }

    /// Answers a batch of requests; those that must wait for other processes wait separately and
    /// delay no others.
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

    /// Asks other processes for what they hold, and takes it as it comes. Requests that got nothing
    /// in time are refused.
    async fn reclaim(&self, mut waiting: Waiting) {
        let lacking: HashSet<Limited> = waiting
            .keys()
            .flat_map(|request| self.shares.lacking(*request))
            .collect();
        let messages: Vec<String> = lacking
            .into_iter()
            .map(|limited| message(self.holder, limited))
            .collect();
        if let Err(error) = windows::call_in(&self.pool, CHANNEL, &messages).await {
            debug!(%error, "could not ask other processes for their shares of rate limits");
        }
        let deadline = Instant::now() + RECLAIM;
        let mut pause = SHORTEST_PAUSE;
        while !waiting.is_empty() && Instant::now() < deadline {
            sleep(pause).await;
            pause = LONGEST_PAUSE.min(pause * 2);
            self.round(&mut waiting).await;
        }
        for (request, calls) in waiting {
            for call in self.settle(request, calls, true) {
                call.answer(Err(Error::Unavailable));
            }
        }
    }

    /// Answers the callers that can be answered now.
    async fn round(&self, waiting: &mut Waiting) {
        let _turn = self.turn.lock().await;
        // Shares that arrived since they began to wait.
        for (request, calls) in &mut *waiting {
            let taken = std::mem::take(calls);
            *calls = self.pay(*request, taken);
        }
        waiting.retain(|_, calls| !calls.is_empty());
        if waiting.is_empty() {
            return;
        }
        let asked_at = Instant::now();
        let wanted: Vec<Wanted> = waiting
            .iter()
            .map(|(request, calls)| {
                let requests = u32::try_from(calls.len()).unwrap_or(u32::MAX);
                self.shares.wanted(*request, requests, asked_at)
            })
            .collect();
        let taking = windows::take(&self.pool, self.holder, &wanted);
        let taken = match timeout(PATIENCE, taking).await {
            Ok(Ok(taken)) => {
                over!(TROUBLE.worked(), "rate limits are read again");
                taken
            }
            Ok(Err(error)) => return fail(waiting, &error),
            Err(_) => return fail(waiting, &Error::Unavailable),
        };
        self.shares.put(&taken, asked_at);
        for (request, calls) in std::mem::take(waiting) {
            if !taken.keys.contains_key(&request) {
                for call in calls {
                    call.answer(Ok(Admission::UnknownKey));
                }
                continue;
            }
            let left = self.settle(request, calls, false);
            if !left.is_empty() {
                waiting.insert(request, left);
            }
        }
    }

    /// Pays for as many requests as the shares last, and returns the others.
    fn pay(&self, request: Request, calls: Vec<Asked>) -> Vec<Asked> {
        answer(calls, || match self.shares.spend(request, Instant::now()) {
            Spent::One(standing) => Some(Admission::Admitted(standing)),
            Spent::Nothing(..) | Spent::Unknown => None,
        })
    }

    /// Pays; refuses requests if nothing is left anywhere, or if other processes had enough time to
    /// answer; and returns the undecided ones.
    fn settle(&self, request: Request, calls: Vec<Asked>, waited: bool) -> Vec<Asked> {
        answer(calls, || {
            match self.shares.settle(request, Instant::now(), waited) {
                Spent::One(standing) => Some(Admission::Admitted(standing)),
                Spent::Nothing(standing, scope) => Some(Admission::Refused(standing, scope)),
                Spent::Unknown => None,
            }
        })
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
        failed!(TROUBLE.failed(&error), %error, requests = unspent, "could not return a part of a rate limit; it is lost for this minute");
    }
}

/// Answers calls until there are no more answers, and returns the others.
fn answer(calls: Vec<Asked>, mut next: impl FnMut() -> Option<Admission>) -> Vec<Asked> {
    let mut calls = calls.into_iter();
    while calls.len() > 0 {
        let Some(admission) = next() else { break };
        if let Some(call) = calls.next() {
            call.answer(Ok(admission));
        }
    }
    calls.collect()
}

fn fail(waiting: &mut Waiting, error: &Error) {
    let calls: Vec<Asked> = waiting.drain().flat_map(|(_, calls)| calls).collect();
    failed!(TROUBLE.failed(error), %error, calls = calls.len(), "could not read rate limits");
    calls.into_iter().for_each(Call::give_up);
}
