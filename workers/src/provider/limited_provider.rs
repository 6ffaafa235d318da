//! One provider with its limits. Limits and the breaker are checked before each request, and every
//! request is measured.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::{media::Modality, throttle::Size};
use metrics::{Counter, Histogram, counter, histogram};
use queue::Waits;
use store::{Error, PgPool};
use telemetry::{
    RepeatedFailure, failed, over,
    trace::{Kind, Span},
};
use tokio::time::timeout;

use super::{
    Answer, Lookup, Piece, Profile, Provider, ProviderError, Question,
    admission::{Admission, Entry, Pass, show},
    chunks, cost,
};

/// A provider and the admission of its requests. A provider that runs in this process has none.
pub(crate) struct LimitedProvider {
    provider: Arc<dyn Provider>,
    admission: Option<Admission>,
    /// Requests that failed.
    failing: RepeatedFailure,
    /// Items for which it failed for good.
    refusing: RepeatedFailure,
}

/// Whether a question may be asked now.
pub(crate) enum Turn<'a> {
    /// One question may be asked.
    Open(Seat<'a>),
    /// Not for this long: the provider limits requests, keeps failing, or is busy.
    Paused(Duration),
}

/// The right to ask one question.
pub(crate) struct Seat<'a> {
    provider: &'a LimitedProvider,
    /// None if there is no admission.
    pass: Option<(&'a Admission, Pass)>,
}

/// The outcome of a question.
pub(crate) enum Reply {
    /// An answer.
    Said(Answer),
    /// The provider is paused for this time. This does not count as an attempt.
    Paused(Duration),
    /// No answer, and how long that took.
    Failed(ProviderError, Duration),
}

impl LimitedProvider {
    pub(super) fn new(provider: Arc<dyn Provider>, pool: &PgPool, waits: &Waits) -> Self {
        let Profile {
            name, access, told, ..
        } = provider.profile();
        // Shown as 0 from the start: a counter that first appears with its first error has no increase then.
        for reason in ProviderError::REASONS {
            errors(name, reason).increment(0);
        }
        let _shown = durations(name);
        show(name, false, false);
        cost::show(name, told);
        let admission = access
            .as_ref()
            .map(|access| Admission::new(name, access, pool.clone(), waits.clone()));
        Self {
            provider,
            admission,
            failing: RepeatedFailure::at_once(),
            refusing: RepeatedFailure::at_once(),
        }
    }

    pub(crate) fn profile(&self) -> &Profile {
        self.provider.profile()
    }

    pub(crate) fn name(&self) -> &str {
        &self.profile().name
    }

    /// Items for which it failed for good, as its log tells of them.
    pub(crate) fn refusing(&self) -> &RepeatedFailure {
        &self.refusing
    }

    /// A text in the pieces that it takes.
    pub(crate) fn pieces<'a>(&self, text: &'a str) -> Vec<&'a str> {
        chunks::pieces(text, self.profile().piece_bytes)
    }

    /// The longest that its answer takes.
    pub(crate) fn deadline(&self) -> Duration {
        let access = self.profile().access.as_ref();
        access.map_or(Duration::ZERO, |access| access.deadline)
    }

    /// Asks for a turn for a request of this size. Load the content after you have the turn.
    ///
    /// # Errors
    /// The provider's state could not be read.
    pub(crate) async fn turn(&self, size: Size) -> Result<Turn<'_>, Error> {
        let pass = match &self.admission {
            None => None,
            Some(admission) => match admission.enter(size).await? {
                Entry::Open(pass) => Some((admission, pass)),
                Entry::Closed(wait) => return Ok(Turn::Paused(wait)),
            },
        };
        Ok(Turn::Open(Seat {
            provider: self,
            pass,
        }))
    }

    /// Whether asking it needs a network request.
    pub(crate) fn is_remote(&self) -> bool {
        self.profile().access.is_some()
    }

    /// Counts pieces of a text, unless they cost nothing.
    pub(crate) fn count(&self, what: Piece, pieces: usize) {
        if self.is_remote() {
            cost::pieces(self.name(), what).increment(pieces as u64);
        }
    }

    /// Counts a lookup of an earlier answer to an equal text.
    pub(crate) fn count_lookup(&self, outcome: Lookup) {
        cost::lookups(self.name(), outcome).increment(1);
    }

    async fn measured(&self, question: Question<'_>) -> (Result<Answer, ProviderError>, Duration) {
        let started = Instant::now();
        let modality = question.content.modality();
        let request = self
            .is_remote()
            .then(|| cost::Request::begin(self.profile(), modality));
        let mut span = self.span(modality);
        let asking = self.provider.analyse(question);
        let answer = match &self.profile().access {
            Some(access) => timeout(access.deadline, asking)
                .await
                .unwrap_or(Err(ProviderError::TimedOut)),
            None => asking.await,
        };
        let elapsed = started.elapsed();
        if let (Some(request), Err(ProviderError::Unreachable(error))) = (request, &answer)
            && error.is_connect()
        {
            request.forget();
        }
        durations(self.name()).record(elapsed);
        if answer.is_ok() {
            over!(
                self.failing.worked(),
                provider = self.name(),
                "a provider answers again"
            );
            over!(
                self.refusing.worked(),
                provider = self.name(),
                "a provider does not fail permanently for items any more"
            );
        }
        if let Err(error) = &answer {
            errors(self.name(), error.reason()).increment(1);
            if let Some(span) = &mut span {
                span.fail(error.reason());
            }
            let (code, cause) = (error.code(), error.cause());
            if code.is_some() || cause.is_some() {
                failed!(self.failing.failed(), provider = self.name(), %error, code, cause, "a provider failed");
            }
        }
        (answer, elapsed)
    }

    /// The step of asking it, if that takes a request.
    fn span(&self, modality: Modality) -> Option<Span> {
        let step = telemetry::trace::current().filter(|_| self.is_remote())?;
        let mut span = Span::begin(step.next(), "provider", Kind::Client);
        span.set("provider", self.name());
        span.set("kind", self.profile().kind);
        span.set("modality", modality.as_str());
        Some(span)
    }

    /// Updates the metrics of its state.
    pub(super) async fn look(&self) {
        if let Some(admission) = &self.admission {
            admission.look().await;
        }
    }
}

impl Seat<'_> {
    /// Whether this question is a probe: nobody else may ask until its answer shows whether the
    /// provider works.
    pub(crate) fn is_probe(&self) -> bool {
        self.pass.as_ref().is_some_and(|(_, pass)| pass.is_probe())
    }

    /// Asks.
    pub(crate) async fn ask(self, question: Question<'_>) -> Reply {
        let (answer, elapsed) = self.provider.measured(question).await;
        let wait = match &self.pass {
            Some((admission, pass)) => admission.leave(pass, &answer).await,
            None => None,
        };
        match wait {
            Some(wait) => Reply::Paused(wait),
            None => answer.map_or_else(|error| Reply::Failed(error, elapsed), Reply::Said),
        }
    }
}

fn durations(provider: &str) -> Histogram {
    histogram!("gatehouse_provider_request_duration_seconds", "provider" => provider.to_owned())
}

fn errors(provider: &str, reason: &'static str) -> Counter {
    counter!("gatehouse_provider_errors_total", "provider" => provider.to_owned(), "reason" => reason)
}
