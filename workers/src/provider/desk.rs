//! One provider, with what stands before it and what is measured of it.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use domain::score::Category;
use metrics::{Counter, counter, histogram};
use store::{Error, PgPool};
use tokio::time::timeout;

use super::{
    Answer, Provider, ProviderError, Question,
    gate::{Entry, Gate, show},
};

/// A provider that can be asked.
pub(crate) struct Desk {
    provider: Arc<dyn Provider>,
    gate: Option<Gate>,
}

/// What became of a question.
pub(crate) enum Reply {
    /// An answer, and how long it took.
    Said(Answer, Duration),
    /// Nobody is to ask for so long: it limits requests, keeps failing, or is busy.
    Paused(Duration),
    /// No answer, and how long that took.
    Failed(ProviderError, Duration),
}

impl Desk {
    pub(super) fn new(provider: Arc<dyn Provider>, pool: &PgPool) -> Self {
        // Shown as 0 from the start: a counter that first appears with its first error has no increase then.
        for reason in ProviderError::REASONS {
            errors(provider.name(), reason).increment(0);
        }
        show(provider.name(), false, false);
        let gate = provider
            .access()
            .map(|access| Gate::new(provider.name(), access, pool.clone()));
        Self { provider, gate }
    }

    pub(crate) fn name(&self) -> &str {
        self.provider.name()
    }

    pub(super) fn kind(&self) -> &'static str {
        self.provider.kind()
    }

    /// What it can score.
    pub(crate) fn categories(&self) -> &[Category] {
        self.provider.categories()
    }

    /// The longest that its answer takes.
    pub(crate) fn deadline(&self) -> Duration {
        let access = self.provider.access();
        access.map_or(Duration::ZERO, |access| access.deadline)
    }

    /// Asks, if it is to be asked.
    ///
    /// # Errors
    /// How it stands with the provider could not be read.
    pub(crate) async fn ask(&self, question: Question<'_>) -> Result<Reply, Error> {
        let Some(gate) = &self.gate else {
            let (answer, elapsed) = self.measured(question).await;
            return Ok(reply(answer, elapsed));
        };
        let pass = match gate.enter().await? {
            Entry::Open(pass) => pass,
            Entry::Closed(wait) => return Ok(Reply::Paused(wait)),
        };
        let (answer, elapsed) = self.measured(question).await;
        Ok(match gate.leave(&pass, &answer).await {
            Some(wait) => Reply::Paused(wait),
            None => reply(answer, elapsed),
        })
    }

    async fn measured(&self, question: Question<'_>) -> (Result<Answer, ProviderError>, Duration) {
        let started = Instant::now();
        let asking = self.provider.analyse(question);
        let answer = match self.provider.access() {
            Some(access) => timeout(access.deadline, asking)
                .await
                .unwrap_or(Err(ProviderError::TimedOut)),
            None => asking.await,
        };
        let elapsed = started.elapsed();
        let name = self.name().to_owned();
        histogram!("gatehouse_provider_request_duration_seconds", "provider" => name)
            .record(elapsed);
        if let Err(error) = &answer {
            errors(self.name(), error.reason()).increment(1);
        }
        (answer, elapsed)
    }

    /// Shows how it stands with it.
    pub(super) async fn look(&self) {
        if let Some(gate) = &self.gate {
            gate.look().await;
        }
    }
}

fn reply(answer: Result<Answer, ProviderError>, elapsed: Duration) -> Reply {
    match answer {
        Ok(answer) => Reply::Said(answer, elapsed),
        Err(error) => Reply::Failed(error, elapsed),
    }
}

fn errors(provider: &str, reason: &'static str) -> Counter {
    counter!("gatehouse_provider_errors_total", "provider" => provider.to_owned(), "reason" => reason)
}
