//! What a process knows about the state that all workers share, and how it changes this state.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use metrics::gauge;
use store::{
    Error,
    provider::{self, State, Stated},
};
use telemetry::failed;
use tracing::info;

use super::Admission;

/// The longest time for which a state that was read is used.
const FRESH: Duration = Duration::from_secs(1);

/// The state as it was last read or written.
#[derive(Clone, Copy)]
pub(super) struct CachedState {
    pub(super) stated: Stated,
    since: Instant,
}

impl CachedState {
    fn new(stated: Stated) -> Self {
        Self {
            stated,
            since: Instant::now(),
        }
    }

    /// The current time by Postgres's clock.
    pub(super) fn now(&self) -> DateTime<Utc> {
        self.stated.at + self.since.elapsed()
    }
}

impl Admission {
    /// Changes the shared state by what was learned. Writes nothing if it stays the same.
    pub(super) async fn learn(
        &self,
        learn: impl Fn(&mut State, DateTime<Utc>),
    ) -> Result<CachedState, Error> {
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

    /// Whether its breaker is open, as far as this process knows.
    pub(super) async fn is_open(&self) -> bool {
        let known = self.known.lock().await;
        known.is_some_and(|known| known.stated.state.breaker.open_until.is_some())
    }

    /// Reads the state to update its metrics.
    pub(crate) async fn look(&self) {
        match self.known().await {
            Ok(_) => self.shared_again(),
            Err(error) => failed!(
                self.trouble.failed(&error),
                provider = self.provider,
                %error,
                "could not read a provider's state"
            ),
        }
    }

    pub(super) async fn known(&self) -> Result<CachedState, Error> {
        // Held while reading, so that callers who arrive meanwhile wait for the same answer.
        let mut known = self.known.lock().await;
        if let Some(fresh) = known.filter(|known| known.since.elapsed() < FRESH) {
            return Ok(fresh);
        }
        let read = CachedState::new(provider::read(&self.pool, &self.access.credential).await?);
        self.keep(&mut known, read);
        Ok(read)
    }

    pub(super) async fn change<R>(
        &self,
        how: impl FnOnce(&mut State, DateTime<Utc>) -> R,
    ) -> Result<(CachedState, R), Error> {
        let credential = &self.access.credential;
        let (stated, result) =
            provider::change(&self.pool, credential, &self.provider, how).await?;
        let changed = CachedState::new(stated);
        self.keep(&mut *self.known.lock().await, changed);
        Ok((changed, result))
    }

    /// Remembers the state, logs what changed, and updates the metrics.
    fn keep(&self, known: &mut Option<CachedState>, new: CachedState) {
        // The answers to two changes may arrive in the wrong order.
        if known.is_some_and(|known| known.stated.at > new.stated.at) {
            return;
        }
        let open = |state: &State| state.breaker.open_until.is_some();
        let paused = |known: &CachedState| {
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
pub(crate) fn show(provider: &str, limit: bool, breaker: bool) {
    for (cause, holds) in [("limit", limit), ("breaker", breaker)] {
        gauge!("gatehouse_provider_paused", "provider" => provider.to_owned(), "cause" => cause)
            .set(f64::from(u8::from(holds)));
    }
}
