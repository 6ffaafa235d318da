//! Decides who may ask a provider, and when. All workers share what they learn about a credential.
//! When one of them meets a limit, requests of that size pause for all. Failures in a row open the
//! breaker for all, until a single probe finds that the provider works again.
//!
//! The shared state is one row in Postgres. Each process reads it at most once a second, and writes it when it changes.

mod cached_state;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::{DateTime, Utc};
use database::Trouble;
use domain::{
    breaker::{Allowed, Right},
    throttle::Size,
};
use queue::Waits;
use store::{Error, PgPool, provider::State};
use telemetry::{failed, over};
use tokio::{
    sync::{Mutex, OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tracing::error;

use self::cached_state::CachedState;
pub(super) use self::cached_state::show;
use super::{Access, Answer, ProviderError};

/// How long a job waits for one of the provider's concurrent requests. Meanwhile it occupies a
/// slot.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the job pauses if it got none.
const BUSY: Duration = Duration::from_secs(1);
/// How long the job pauses if the necessary time is unknown.
const UNSAID: Duration = Duration::from_secs(1);
/// After this many limits in a row, a request is considered too large for the limit.
const STUBBORN: u32 = 5;
/// The lease of a probe, in addition to the provider's deadline.
const PROBE_MARGIN: Duration = Duration::from_secs(5);

/// The admission of requests to one provider.
pub(super) struct Admission {
    provider: String,
    access: Access,
    pool: PgPool,
    places: Arc<Semaphore>,
    /// Jobs that wait for a place.
    waits: Waits,
    known: Mutex<Option<CachedState>>,
    /// Whether a smaller request passed while a limit held back larger ones, since a larger one was
    /// last charged.
    smaller_passed: AtomicBool,
    /// Reading and writing its state.
    trouble: Trouble,
}

/// The permission to send one request.
pub(super) struct Pass {
    size: Size,
    permits: Permits,
    _place: OwnedSemaphorePermit,
}

impl Pass {
    /// Whether only this request may be sent at present, as a test.
    pub(super) fn is_probe(&self) -> bool {
        let Permits { breaker, limit } = self.permits;
        [breaker, limit]
            .iter()
            .any(|right| matches!(right, Right::Probe(_)))
    }
}

/// Whether a request may be sent.
pub(super) enum Entry {
    Open(Pass),
    /// Try again after this time.
    Closed(Duration),
}

impl Admission {
    pub(super) fn new(provider: &str, access: &Access, pool: PgPool, waits: Waits) -> Self {
        Self {
            provider: provider.to_owned(),
            places: Arc::new(Semaphore::new(access.concurrency)),
            waits,
            access: access.clone(),
            pool,
            known: Mutex::default(),
            smaller_passed: AtomicBool::new(false),
            trouble: Trouble::at_once(),
        }
    }

    /// Asks for the permission to send a request of this size.
    pub(super) async fn enter(&self, size: Size) -> Result<Entry, Error> {
        // The state is read after the wait for a place, so that it is current.
        let waiting = self.waits.begin();
        let place = timeout(PATIENCE, Arc::clone(&self.places).acquire_owned()).await;
        drop(waiting);
        let Ok(Ok(place)) = place else {
            return Ok(Entry::Closed(BUSY));
        };
        let known = self.known().await?;
        let permits = match allowed(&known.stated.state, size, known.now()) {
            Verdict::Everybody => Permits::EVERYBODY,
            Verdict::Nobody(wait) => return Ok(Entry::Closed(wait)),
            Verdict::OneAlone => {
                let lease = self.access.deadline + PROBE_MARGIN;
                let take = |state: &mut State, now| {
                    // Another process may have taken the probe, and may even have finished it.
                    let verdict = allowed(state, size, now);
                    if matches!(verdict, Verdict::OneAlone) {
                        Ok(take(state, size, now, lease))
                    } else {
                        Err(verdict)
                    }
                };
                match self.change(take).await?.1 {
                    Ok(permits) => permits,
                    Err(Verdict::Nobody(wait)) => return Ok(Entry::Closed(wait)),
                    Err(Verdict::Everybody | Verdict::OneAlone) => Permits::EVERYBODY,
                }
            }
        };
        Ok(Entry::Open(Pass {
            size,
            permits,
            _place: place,
        }))
    }

    /// Records the outcome of a request. Returns how long to pause if the outcome must not count
    /// against the item: a limit, or a probe that failed.
    pub(super) async fn leave(
        &self,
        pass: &Pass,
        outcome: &Result<Answer, ProviderError>,
    ) -> Option<Duration> {
        let limit_update = LimitUpdate::of(outcome);
        let chance = rand::random();
        let learn = |state: &mut State, now: DateTime<Utc>| {
            self.apply(limit_update, pass, state, now, chance);
        };
        let was_open = self.is_open().await;
        let known = self.learn(learn).await;
        if let Err(error @ (ProviderError::Denied(_) | ProviderError::NoCredentials(_))) = outcome
            && !was_open
            && self.is_open().await
        {
            let (code, cause) = (error.code(), error.cause());
            error!(provider = self.provider, %error, code, cause, "a provider rejects all our requests; correct its key, account or address");
        }
        match &known {
            Ok(_) => self.shared_again(),
            Err(error) => failed!(
                self.trouble.failed(error),
                provider = self.provider,
                %error,
                "could not share a provider's state with other processes"
            ),
        }
        let is_theirs = match limit_update {
            LimitUpdate::Well | LimitUpdate::Spent(_) => {
                self.note_passing(pass.size).await;
                false
            }
            LimitUpdate::Limited(_) => !self.is_its_own(pass, known.as_ref().ok()),
            LimitUpdate::Denied => true,
            LimitUpdate::Failed => matches!(pass.permits.breaker, Right::Probe(_)),
        };
        let wait = known.map(|known| closed_for(&known.stated.state, pass.size, known.now()));
        is_theirs.then(|| wait.ok().flatten().unwrap_or(UNSAID))
    }

    fn shared_again(&self) {
        over!(
            self.trouble.worked(),
            provider = self.provider,
            "a provider's state is shared with other processes again"
        );
    }

    /// Applies an outcome to the state.
    fn apply(
        &self,
        limit_update: LimitUpdate,
        pass: &Pass,
        state: &mut State,
        now: DateTime<Utc>,
        chance: f64,
    ) {
        let settings = &self.access.breaker;
        let (breaker, throttle) = (&mut state.breaker, &mut state.throttle);
        let Permits {
            breaker: right,
            limit,
        } = pass.permits;
        match limit_update {
            LimitUpdate::Well => {
                breaker.succeeded(right);
                throttle.passed(pass.size, limit, now);
            }
            LimitUpdate::Spent(wait) => {
                breaker.succeeded(right);
                throttle.passed(pass.size, limit, now);
                state.paused_until = state.paused_until.max(Some(now + wait));
            }
            LimitUpdate::Limited(asked) => {
                // It answers.
                breaker.succeeded(right);
                throttle.met(pass.size, limit, now, asked, chance);
            }
            LimitUpdate::Denied => {
                breaker.denied(right, now, chance, settings);
                throttle.unknown(limit);
            }
            LimitUpdate::Failed => {
                breaker.failed(right, now, chance, settings);
                throttle.unknown(limit);
            }
        }
    }

    /// Notes that a request passed that the current limit does not hold back.
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

    /// Whether a request is itself too large for the limit: it was the test, the limit was met many
    /// times in a row, and smaller requests pass.
    fn is_its_own(&self, pass: &Pass, known: Option<&CachedState>) -> bool {
        let is_stubborn = known.is_some_and(|known| known.stated.state.throttle.met >= STUBBORN);
        matches!(pass.permits.limit, Right::Probe(_))
            && is_stubborn
            && self.smaller_passed.swap(false, Ordering::Relaxed)
    }
}

/// What an outcome says about the provider.
#[derive(Clone, Copy, Debug)]
enum LimitUpdate {
    /// It answers.
    Well,
    /// It answers, and its limit is used up for this time.
    Spent(Duration),
    /// It limits requests, and asks for a pause of this length.
    Limited(Duration),
    /// It refuses all our requests.
    Denied,
    /// It fails.
    Failed,
}

impl LimitUpdate {
    fn of(outcome: &Result<Answer, ProviderError>) -> Self {
        match outcome {
            Ok(answer) => answer.spent.map_or(Self::Well, Self::Spent),
            // It looked at the content, so it works.
            Err(ProviderError::Refused(_)) => Self::Well,
            Err(ProviderError::Limited { retry_after, .. }) => {
                Self::Limited(retry_after.unwrap_or_default())
            }
            Err(ProviderError::Denied(told)) if told.status != 403 => Self::Denied,
            Err(ProviderError::NoCredentials(_)) => Self::Denied,
            // A firewall in front of the provider may answer 403 to a single text, so only several
            // in a row count.
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

/// The longest that others wait for a request that tests whether a limit has passed.
const OTHERS: Duration = Duration::from_secs(5);

/// The rights of a request: one from the breaker and one from the limit.
#[derive(Clone, Copy)]
struct Permits {
    breaker: Right,
    limit: Right,
}

impl Permits {
    const EVERYBODY: Self = Self {
        breaker: Right::Everybody,
        limit: Right::Everybody,
    };
}

/// Who may send a request of some size.
enum Verdict {
    Everybody,
    /// One request alone, to test the provider.
    OneAlone,
    /// Nobody, for this time.
    Nobody(Duration),
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
fn take(state: &mut State, size: Size, now: DateTime<Utc>, lease: Duration) -> Permits {
    let (breaker, throttle) = (&mut state.breaker, &mut state.throttle);
    Permits {
        breaker: breaker.probe(now, lease).unwrap_or(Right::Everybody),
        limit: throttle.probe(size, now, lease).unwrap_or(Right::Everybody),
    }
}

/// How long nobody may send a request of this size. None if at least one request may be sent.
fn closed_for(state: &State, size: Size, now: DateTime<Utc>) -> Option<Duration> {
    let until = |allowed| match allowed {
        Allowed::Nothing(until) => Some(until),
        Allowed::Asking | Allowed::Probing => None,
    };
    let limited = until(state.throttle.allows(size, now)).map(|until| {
        // A test usually ends long before its lease.
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
