//! Who may ask a provider, and when. All workers share what they learn about a credential: a limit that one of them ran into
//! pauses it for all, and failures in a row open its breaker for all, until one of them alone has found it well again.
//!
//! The shared state is one row in Postgres. Each process reads it at most once a second, and writes it when it changes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use domain::breaker::{Allowed, Right};
use metrics::gauge;
use store::{
    Error, PgPool,
    provider::{self, State, Stated},
};
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tracing::{error, info, warn};

use super::{Access, Answer, ProviderError};

/// How old what we know of the state may be.
const FRESH: Duration = Duration::from_secs(1);
/// How long a job waits for a place among those that ask. Its own place among the jobs is taken meanwhile.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long it stays away if it got none.
const BUSY: Duration = Duration::from_secs(1);
/// How long it stays away if nobody knows for how long.
const UNSAID: Duration = Duration::from_secs(1);
/// What a probe may take beyond the provider's deadline.
const PROBE_MARGIN: Duration = Duration::from_secs(5);

/// Stands before one provider.
pub(super) struct Gate {
    provider: String,
    access: Access,
    pool: PgPool,
    places: Arc<Semaphore>,
    known: Mutex<Option<Known>>,
}

/// The state when it was last read or written.
#[derive(Clone, Copy)]
struct Known {
    stated: Stated,
    since: Instant,
}

impl Known {
    fn new(stated: Stated) -> Self {
        Self {
            stated,
            since: Instant::now(),
        }
    }

    /// Postgres's time.
    fn now(&self) -> DateTime<Utc> {
        self.stated.at + self.since.elapsed()
    }
}

/// The permission to ask once.
pub(super) struct Pass {
    right: Right,
    _place: OwnedSemaphorePermit,
}

/// What the gate says.
pub(super) enum Entry {
    Open(Pass),
    /// Come back in so long.
    Closed(Duration),
}

/// What an outcome says of the provider.
#[derive(Clone, Copy, Debug)]
enum Lesson {
    /// It answers.
    Well,
    /// It answers, and its limit is used up for so long.
    Spent(Duration),
    /// It limits requests, and asks for so long a pause.
    Limited(Duration),
    /// It takes nothing from us.
    Denied,
    /// It fails.
    Failed,
}

impl Lesson {
    fn of(outcome: &Result<Answer, ProviderError>) -> Self {
        match outcome {
            Ok(answer) => answer.spent.map_or(Self::Well, Self::Spent),
            // It looked at what it was sent.
            Err(ProviderError::Refused(_)) => Self::Well,
            Err(ProviderError::Limited { retry_after, .. }) => {
                Self::Limited(retry_after.unwrap_or_default())
            }
            // A firewall before the provider may say so of one text: it takes several in a row to be believed.
            Err(ProviderError::Denied(403)) => Self::Failed,
            Err(ProviderError::Denied(_)) => Self::Denied,
            Err(
                ProviderError::Unreachable(_)
                | ProviderError::TimedOut
                | ProviderError::Failed(_)
                | ProviderError::Malformed(_),
            ) => Self::Failed,
        }
    }
}

impl Gate {
    pub(super) fn new(provider: &str, access: &Access, pool: PgPool) -> Self {
        Self {
            provider: provider.to_owned(),
            places: Arc::new(Semaphore::new(access.concurrency)),
            access: access.clone(),
            pool,
            known: Mutex::default(),
        }
    }

    /// Asks to be let in.
    pub(super) async fn enter(&self) -> Result<Entry, Error> {
        // First a place, then a look: who waited for a place sees what happened meanwhile.
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            return Ok(Entry::Closed(BUSY));
        };
        let known = self.known().await?;
        if let Some(wait) = closed_for(&known.stated.state, known.now()) {
            return Ok(Entry::Closed(wait));
        }
        let right = match known.stated.state.breaker.allows(known.now()) {
            Allowed::Asking => Right::Everybody,
            Allowed::Nothing(_) | Allowed::Probing => {
                let lease = self.access.deadline + PROBE_MARGIN;
                let (known, probe) = self
                    .change(|state, now| state.breaker.probe(now, lease))
                    .await?;
                match probe {
                    Some(probe) => probe,
                    // Another process was faster, and may even be done.
                    None => match closed_for(&known.stated.state, known.now()) {
                        Some(wait) => return Ok(Entry::Closed(wait)),
                        None => Right::Everybody,
                    },
                }
            }
        };
        Ok(Entry::Open(Pass {
            right,
            _place: place,
        }))
    }

    /// Tells how it went. Says how long nobody is to ask, if the asker shall not count the outcome as his: a limit, or a
    /// probe that failed.
    pub(super) async fn leave(
        &self,
        pass: &Pass,
        outcome: &Result<Answer, ProviderError>,
    ) -> Option<Duration> {
        let lesson = Lesson::of(outcome);
        let right = pass.right;
        let learn = |state: &mut State, now: DateTime<Utc>| {
            let (breaker, settings) = (&mut state.breaker, &self.access.breaker);
            let chance = rand::random();
            match lesson {
                Lesson::Well => breaker.succeeded(right),
                Lesson::Spent(wait) => {
                    breaker.succeeded(right);
                    state.paused_until = state.paused_until.max(Some(now + wait));
                }
                Lesson::Limited(asked) => {
                    breaker.limited(right, now, asked, chance, settings);
                    state.paused_until = state.paused_until.max(breaker.open_until);
                }
                Lesson::Denied => breaker.denied(right, now, chance, settings),
                Lesson::Failed => breaker.failed(right, now, chance, settings),
            }
        };
        if let (Lesson::Denied, Err(error)) = (lesson, outcome)
            && !self.is_open().await
        {
            error!(provider = self.provider, %error, "a provider takes no requests from us; correct its key, account or address");
        }
        let known = self.learn(learn).await;
        if let Err(error) = &known {
            warn!(provider = self.provider, %error, "could not tell the others how it stands with a provider");
        }
        let is_theirs = match lesson {
            Lesson::Well | Lesson::Spent(_) => false,
            Lesson::Limited(_) | Lesson::Denied => true,
            Lesson::Failed => matches!(right, Right::Probe(_)),
        };
        let wait = known.map(|known| closed_for(&known.stated.state, known.now()));
        is_theirs.then(|| wait.ok().flatten().unwrap_or(UNSAID))
    }

    /// Applies what was learned, unless it changes nothing.
    async fn learn(&self, learn: impl Fn(&mut State, DateTime<Utc>)) -> Result<Known, Error> {
        let known = *self.known.lock().await;
        if let Some(known) = known {
            let mut state = known.stated.state;
            learn(&mut state, known.now());
            if state == known.stated.state {
                return Ok(known);
            }
        }
        let (known, ()) = self.change(learn).await?;
        Ok(known)
    }

    /// Whether its breaker was open when the state was last read.
    async fn is_open(&self) -> bool {
        let known = self.known.lock().await;
        known.is_some_and(|known| known.stated.state.breaker.open_until.is_some())
    }

    /// Reads the state, for what it shows.
    pub(super) async fn look(&self) {
        if let Err(error) = self.known().await {
            warn!(provider = self.provider, %error, "could not see how it stands with a provider");
        }
    }

    async fn known(&self) -> Result<Known, Error> {
        // Held while reading: whoever comes meanwhile waits for the same answer.
        let mut known = self.known.lock().await;
        if let Some(fresh) = known.filter(|known| known.since.elapsed() < FRESH) {
            return Ok(fresh);
        }
        let read = Known::new(provider::read(&self.pool, &self.access.credential).await?);
        self.keep(&mut known, read);
        Ok(read)
    }

    async fn change<R>(
        &self,
        how: impl FnOnce(&mut State, DateTime<Utc>) -> R,
    ) -> Result<(Known, R), Error> {
        let credential = &self.access.credential;
        let (stated, result) =
            provider::change(&self.pool, credential, &self.provider, how).await?;
        let changed = Known::new(stated);
        self.keep(&mut *self.known.lock().await, changed);
        Ok((changed, result))
    }

    /// Remembers the state, says what changed and shows it.
    fn keep(&self, known: &mut Option<Known>, new: Known) {
        // Of two changes, the answer to the first may come last.
        if known.is_some_and(|known| known.stated.at > new.stated.at) {
            return;
        }
        // A limit opens the breaker, too.
        let open = |state: &State| {
            state.breaker.open_until.is_some() && state.breaker.open_until != state.paused_until
        };
        let paused = |known: &Known| known.stated.state.paused_until > Some(known.now());
        let before = known.as_ref();
        let (was_open, was_paused) = (
            before.is_some_and(|known| open(&known.stated.state)),
            before.is_some_and(paused),
        );
        let (is_open, is_paused) = (open(&new.stated.state), paused(&new));
        if is_open != was_open {
            info!(
                provider = self.provider,
                open = is_open,
                "a provider's breaker changed"
            );
        }
        if is_paused && !was_paused {
            info!(
                provider = self.provider,
                "a provider limits our requests and is paused"
            );
        }
        show(&self.provider, is_paused, is_open);
        *known = Some(new);
    }
}

/// Shows whether a provider is left alone, and why.
pub(super) fn show(provider: &str, limit: bool, breaker: bool) {
    for (cause, holds) in [("limit", limit), ("breaker", breaker)] {
        gauge!("gatehouse_provider_paused", "provider" => provider.to_owned(), "cause" => cause)
            .set(f64::from(u8::from(holds)));
    }
}

/// How long nobody may ask; none if at least one may.
fn closed_for(state: &State, now: DateTime<Utc>) -> Option<Duration> {
    let breaker = match state.breaker.allows(now) {
        Allowed::Nothing(until) => Some(until),
        Allowed::Asking | Allowed::Probing => None,
    };
    let until = state.paused_until.max(breaker)?;
    (until - now).to_std().ok().filter(|wait| !wait.is_zero())
}
