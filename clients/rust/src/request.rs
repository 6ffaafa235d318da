//! Submissions, with what can be said about each of them.

use std::{
    future::{Future, IntoFuture},
    pin::Pin,
    time::{Duration, Instant},
};

use tokio::time::sleep;
use uuid::Uuid;

use crate::{
    client::{FIRST_PAUSE, Gatehouse, LONGEST_PAUSE},
    document::{Accepted, Content, PolledStatus},
    error::Error,
};

/// How long [`Moderate`] waits for the verdict.
const PATIENCE: Duration = Duration::from_mins(1);
/// The longest wait of one answer.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

type Answer<'a> = Pin<Box<dyn Future<Output = Result<Accepted, Error>> + Send + 'a>>;

/// A submission: [`Gatehouse::submit`]. It is sent when it is awaited.
#[must_use = "nothing is submitted until it is awaited"]
#[derive(Clone, Debug)]
pub struct Submit<'a> {
    gatehouse: &'a Gatehouse,
    content: &'a Content,
    idempotency_key: Option<String>,
    wait: Duration,
}

impl<'a> Submit<'a> {
    pub(crate) fn new(gatehouse: &'a Gatehouse, content: &'a Content) -> Self {
        Self {
            gatehouse,
            content,
            idempotency_key: None,
            wait: Duration::ZERO,
        }
    }

    /// Names the submission: the same content with the same key is stored once within 24 hours. It is
    /// random if not given. Give it if your program may submit the same thing again after a restart.
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// How long the answer may wait for the verdict, in seconds, rounded up. The service waits at most
    /// 10 seconds.
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    async fn send(self) -> Result<Accepted, Error> {
        let key = self
            .idempotency_key
            .unwrap_or_else(|| Uuid::new_v4().to_string());
        let mut headers = vec![("idempotency-key", key)];
        if self.wait > Duration::ZERO {
            let seconds = self.wait.as_secs() + u64::from(self.wait.subsec_nanos() > 0);
            headers.push(("prefer", format!("wait={seconds}")));
        }
        self.gatehouse
            .answered("submit-media", self.content, &headers)
            .await
    }
}

impl<'a> IntoFuture for Submit<'a> {
    type Output = Result<Accepted, Error>;
    type IntoFuture = Answer<'a>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// A submission whose verdict is waited for: [`Gatehouse::moderate`]. It is sent when it is awaited.
#[must_use = "nothing is submitted until it is awaited"]
#[derive(Clone, Debug)]
pub struct Moderate<'a> {
    submit: Submit<'a>,
    patience: Duration,
}

impl<'a> Moderate<'a> {
    pub(crate) fn new(gatehouse: &'a Gatehouse, content: &'a Content) -> Self {
        Self {
            submit: Submit::new(gatehouse, content),
            patience: PATIENCE,
        }
    }

    /// As [`Submit::idempotency_key`].
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.submit = self.submit.idempotency_key(key);
        self
    }

    /// How long to wait for the verdict in all: a minute if not given. When it is over, no further
    /// question is asked.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    async fn send(self) -> Result<Accepted, Error> {
        let begun = Instant::now();
        let left = || self.patience.saturating_sub(begun.elapsed());
        let gatehouse = self.submit.gatehouse;
        let wait = self.patience.clamp(Duration::from_secs(1), LONGEST_WAIT);
        let mut answer = self.submit.wait(wait).send().await?;
        let mut pause = FIRST_PAUSE;
        while answer.status == PolledStatus::Pending && left() > Duration::ZERO {
            sleep(pause.min(left())).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
            let asked = gatehouse.status(answer.id).await?;
            if asked.status != PolledStatus::Pending {
                answer = Accepted {
                    id: answer.id,
                    status: asked.status,
                    message: "Moderated.".to_owned(),
                    action: asked.action,
                    moderation_result: asked.moderation_result,
                };
            }
        }
        Ok(answer)
    }
}

impl<'a> IntoFuture for Moderate<'a> {
    type Output = Result<Accepted, Error>;
    type IntoFuture = Answer<'a>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}
