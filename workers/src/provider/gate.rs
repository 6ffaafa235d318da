//! Who may ask a provider, and when. All workers share what they learn about a credential: a limit that one of them met pauses
//! requests of that size for all, and failures in a row open its breaker for all, until one of them alone has found it well again.
//!
//! The shared state is one row in Postgres. Each process reads it at most once a second, and writes it when it changes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use domain::{
    breaker::{Allowed, Right},
    throttle::Size,
};
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
/// So often in a row a request meets a limit before it is thought to be too large for it.
const STUBBORN: u32 = 5;
/// The longest that others wait for one that tries whether a limit has passed.
const OTHERS: Duration = Duration::from_secs(5);
/// What a probe may take beyond the provider's deadline.
const PROBE_MARGIN: Duration = Duration::from_secs(5);

/// Stands before one provider.
pub(super) struct Gate {
    provider: String,
    access: Access,
    pool: PgPool,
    places: Arc<Semaphore>,
    known: Mutex<Option<Known>>,
    /// Whether a request passed that a limit did not hold back, since a larger one was last charged.
    smaller_passed: AtomicBool,
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
    size: Size,
    rights: Rights,
    _place: OwnedSemaphorePermit,
}

impl Pass {
    /// Whether it was given to one alone.
    pub(super) fn is_probe(&self) -> bool {
        let Rights { breaker, limit } = self.rights;
        [breaker, limit]
            .iter()
            .any(|right| matches!(right, Right::Probe(_)))
    }
}

/// With what right somebody asks, as the breaker sees it and as the limit does.
#[derive(Clone, Copy)]
struct Rights {
    breaker: Right,
    limit: Right,
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
            Err(ProviderError::Denied(told)) if told.status != 403 => Self::Denied,
            Err(ProviderError::NoCredentials(_)) => Self::Denied,
            // A firewall before the provider may say 403 of one text: it takes several in a row to be believed.
            Err(
                ProviderError::Denied(_)
                | ProviderError::Unreachable(_)
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
            smaller_passed: AtomicBool::new(false),
        }
    }

    /// Asks to be let in with a request of this size.
    pub(super) async fn enter(&self, size: Size) -> Result<Entry, Error> {
        // First a place, then a look: who waited for a place sees what happened meanwhile.
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            return Ok(Entry::Closed(BUSY));
        };
        let known = self.known().await?;
        let rights = match allowed(&known.stated.state, size, known.now()) {
            Verdict::Everybody => Rights::EVERYBODY,
            Verdict::Nobody(wait) => return Ok(Entry::Closed(wait)),
            Verdict::OneAlone => {
                let lease = self.access.deadline + PROBE_MARGIN;
                let take = |state: &mut State, now| {
                    // Another process may have been faster, and may even be done.
                    let verdict = allowed(state, size, now);
                    if matches!(verdict, Verdict::OneAlone) {
                        Ok(take(state, size, now, lease))
                    } else {
                        Err(verdict)
                    }
                };
                match self.change(take).await?.1 {
                    Ok(rights) => rights,
                    Err(Verdict::Nobody(wait)) => return Ok(Entry::Closed(wait)),
                    Err(Verdict::Everybody | Verdict::OneAlone) => Rights::EVERYBODY,
                }
            }
        };
        Ok(Entry::Open(Pass {
            size,
            rights,
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
        let chance = rand::random();
        let learn =
            |state: &mut State, now: DateTime<Utc>| self.apply(lesson, pass, state, now, chance);
        let was_open = self.is_open().await;
        let known = self.learn(learn).await;
        if let Err(error @ (ProviderError::Denied(_) | ProviderError::NoCredentials(_))) = outcome
            && !was_open
            && self.is_open().await
        {
            let (code, cause) = (error.code(), error.cause());
            error!(provider = self.provider, %error, code, cause, "a provider rejects all our requests; correct its key, account or address");
        }
        if let Err(error) = &known {
            warn!(provider = self.provider, %error, "could not share a provider's state with other processes");
        }
        let is_theirs = match lesson {
            Lesson::Well | Lesson::Spent(_) => {
                self.note_passing(pass.size).await;
                false
            }
            Lesson::Limited(_) => !self.is_its_own(pass, known.as_ref().ok()),
            Lesson::Denied => true,
            Lesson::Failed => matches!(pass.rights.breaker, Right::Probe(_)),
        };
        let wait = known.map(|known| closed_for(&known.stated.state, pass.size, known.now()));
        is_theirs.then(|| wait.ok().flatten().unwrap_or(UNSAID))
    }

    /// What an outcome changes.
    fn apply(
        &self,
        lesson: Lesson,
        pass: &Pass,
        state: &mut State,
        now: DateTime<Utc>,
        chance: f64,
    ) {
        let settings = &self.access.breaker;
        let (breaker, throttle) = (&mut state.breaker, &mut state.throttle);
        let Rights {
            breaker: right,
            limit,
        } = pass.rights;
        match lesson {
            Lesson::Well => {
                breaker.succeeded(right);
                throttle.passed(pass.size, limit, now);
            }
            Lesson::Spent(wait) => {
                breaker.succeeded(right);
                throttle.passed(pass.size, limit, now);
                state.paused_until = state.paused_until.max(Some(now + wait));
            }
            Lesson::Limited(asked) => {
                // It answers.
                breaker.succeeded(right);
                throttle.met(pass.size, limit, now, asked, chance);
            }
            Lesson::Denied => {
                breaker.denied(right, now, chance, settings);
                throttle.unknown(limit);
            }
            Lesson::Failed => {
                breaker.failed(right, now, chance, settings);
                throttle.unknown(limit);
            }
        }
    }

    /// Remembers that a request passed which a limit does not hold back.
    async fn note_passing(&self, size: Size) {
        let known = self.known.lock().await;
        let is_small = known.is_some_and(|known| {
            let state = known.stated.state;
            state.throttle.until.is_some() && !state.throttle.holds(size)
        });
        if is_small {
            self.smaller_passed.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a request meets the limit by its own fault: it was the one that tried, has met it often in a row, and smaller ones
    /// pass.
    fn is_its_own(&self, pass: &Pass, known: Option<&Known>) -> bool {
        let is_stubborn = known.is_some_and(|known| known.stated.state.throttle.met >= STUBBORN);
        matches!(pass.rights.limit, Right::Probe(_))
            && is_stubborn
            && self.smaller_passed.swap(false, Ordering::Relaxed)
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

    /// Whether its breaker is open, as far as is known.
    async fn is_open(&self) -> bool {
        let known = self.known.lock().await;
        known.is_some_and(|known| known.stated.state.breaker.open_until.is_some())
    }

    /// Reads the state, for what it shows.
    pub(super) async fn look(&self) {
        if let Err(error) = self.known().await {
            warn!(provider = self.provider, %error, "could not read a provider's state");
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
        let open = |state: &State| state.breaker.open_until.is_some();
        let paused = |known: &Known| {
            let state = &known.stated.state;
            let until = state.paused_until.max(state.throttle.until);
            until > Some(known.now())
        };
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

/// Shows whether a provider is paused, and why.
pub(super) fn show(provider: &str, limit: bool, breaker: bool) {
    for (cause, holds) in [("limit", limit), ("breaker", breaker)] {
        gauge!("gatehouse_provider_paused", "provider" => provider.to_owned(), "cause" => cause)
            .set(f64::from(u8::from(holds)));
    }
}

/// Who may ask with a request of some size.
enum Verdict {
    Everybody,
    /// One request alone, to test the provider.
    OneAlone,
    /// Nobody, for so long.
    Nobody(Duration),
}

impl Rights {
    const EVERYBODY: Self = Self {
        breaker: Right::Everybody,
        limit: Right::Everybody,
    };
}

fn allowed(state: &State, size: Size, now: DateTime<Utc>) -> Verdict {
    if let Some(wait) = closed_for(state, size, now) {
        return Verdict::Nobody(wait);
    }
    let allowed = [state.breaker.allows(now), state.throttle.allows(size, now)];
    if allowed.contains(&Allowed::Probing) {
        Verdict::OneAlone
    } else {
        Verdict::Everybody
    }
}

/// Takes the right to test the provider, from the breaker, the limit, or both.
fn take(state: &mut State, size: Size, now: DateTime<Utc>, lease: Duration) -> Rights {
    let (breaker, throttle) = (&mut state.breaker, &mut state.throttle);
    Rights {
        breaker: breaker.probe(now, lease).unwrap_or(Right::Everybody),
        limit: throttle.probe(size, now, lease).unwrap_or(Right::Everybody),
    }
}

/// How long nobody may ask with a request of this size; none if at least one may.
fn closed_for(state: &State, size: Size, now: DateTime<Utc>) -> Option<Duration> {
    let until = |allowed| match allowed {
        Allowed::Nothing(until) => Some(until),
        Allowed::Asking | Allowed::Probing => None,
    };
    let limited = until(state.throttle.allows(size, now)).map(|until| {
        // One that tries is mostly done long before its lease is over.
        if state.throttle.probe_until.is_some() {
            until.min(now + OTHERS)
        } else {
            until
        }
    });
    let paused = state.paused_until.max(until(state.breaker.allows(now)));
    let until = paused.max(limited)?;
    (until - now).to_std().ok().filter(|wait| !wait.is_zero())
}
