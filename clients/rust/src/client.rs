//! Sends requests, and sends them again after failures that pass.

use std::{fmt, time::Duration};

use reqwest::{Client, StatusCode, redirect};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::sleep;
use uuid::Uuid;

use crate::{
    document::{Content, MediaStatus},
    error::{Error, Refused},
    request::{Moderate, Submit},
};

/// The pauses between questions and between tries, the first and the longest.
pub(crate) const FIRST_PAUSE: Duration = Duration::from_millis(500);
pub(crate) const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// Longer than the longest wait of one answer.
const ANSWERING: Duration = Duration::from_secs(30);
const CONNECTING: Duration = Duration::from_secs(10);

/// A service and a key of a site. Clones share their connections.
#[derive(Clone)]
pub struct Gatehouse {
    http: Client,
    url: String,
    key: String,
    tries: u32,
}

/// The body of every request.
#[derive(Serialize)]
struct WithKey<'a, T> {
    api_key: &'a str,
    #[serde(flatten)]
    rest: &'a T,
}

#[derive(Serialize)]
struct Question {
    media_id: Uuid,
}

impl Gatehouse {
    /// A client of the service at `url`, for example `https://moderation.example.com`, with the key of
    /// a site: `site_...`.
    ///
    /// It trusts the certificate authorities of the machine. It follows no redirects, because the key
    /// is in the body of each request.
    ///
    /// # Errors
    /// [`Error::Setup`] if `url` begins with `https` and no certificate authorities are found.
    pub fn new(url: &str, site_key: &str) -> Result<Self, Error> {
        let http = Client::builder();
        #[cfg(feature = "rustls")]
        let http = crate::tls::with_tls(http, url.starts_with("https:"))?;
        let http = http
            .user_agent(concat!("gatehouse-client/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECTING)
            .timeout(ANSWERING)
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| Error::Setup(error.into()))?;
        Ok(Self::with_http(http, url, site_key))
    }

    /// As [`new`](Self::new), with an HTTP client of your own. Its time-out must be longer than 10
    /// seconds, the longest wait of one answer.
    pub fn with_http(http: Client, url: &str, site_key: &str) -> Self {
        Self {
            http,
            url: format!("{}/functions/v1", url.trim_end_matches('/')),
            key: site_key.to_owned(),
            tries: 5,
        }
    }

    /// How often a request is sent if it fails in passing: 5 times if not given, and at least once.
    pub fn tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// Submits content, when it is awaited. It does not wait for the verdict unless you ask for it with
    /// [`Submit::wait`].
    ///
    /// # Errors
    /// Awaited: [`Error::Refused`] if the service refuses the content, any other [`Error`] if there is
    /// no answer.
    pub fn submit<'a>(&'a self, content: &'a Content) -> Submit<'a> {
        Submit::new(self, content)
    }

    /// Submits content and waits for the verdict, when it is awaited: a minute in all, or as long as you
    /// say with [`Moderate::patience`]. If there is no verdict in time, the status is `pending`.
    ///
    /// # Errors
    /// Awaited: [`Error::Refused`] if the service refuses the content, any other [`Error`] if there is
    /// no answer.
    pub fn moderate<'a>(&'a self, content: &'a Content) -> Moderate<'a> {
        Moderate::new(self, content)
    }

    /// The status of an item. The id is in the answer to the submission.
    ///
    /// # Errors
    /// [`Error::Refused`] with the code `media_not_found` if the site has no such item, any other [`Error`]
    /// as for a submission.
    pub async fn status(&self, media_id: Uuid) -> Result<MediaStatus, Error> {
        let question = Question { media_id };
        self.answered("get-media-status", &question, &[]).await
    }

    /// Sends a request until it is answered or refused for good.
    pub(crate) async fn answered<T: DeserializeOwned>(
        &self,
        operation: &str,
        body: &impl Serialize,
        headers: &[(&'static str, String)],
    ) -> Result<T, Error> {
        let mut pause = FIRST_PAUSE;
        let mut number = 1;
        loop {
            let error = match self.send(operation, body, headers).await {
                Err(error) if error.is_passing() && number < self.tries => error,
                last => return last,
            };
            number += 1;
            let asked = error.retry_after().unwrap_or_default();
            // Of many clients that failed together, not all come back together.
            sleep(asked.max(pause.mul_f64(0.5 + fastrand::f64() / 2.0))).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Sends a request once.
    async fn send<T: DeserializeOwned>(
        &self,
        operation: &str,
        body: &impl Serialize,
        headers: &[(&'static str, String)],
    ) -> Result<T, Error> {
        let body = WithKey {
            api_key: &self.key,
            rest: body,
        };
        let mut request = self
            .http
            .post(format!("{}/{operation}", self.url))
            .json(&body);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let answer = request.send().await.map_err(Error::Unreachable)?;
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.bytes().await.map_err(Error::Unreachable)?;
        if status == StatusCode::OK {
            serde_json::from_slice(&body).map_err(Error::Unreadable)
        } else {
            Err(Refused::new(status, &headers, &body).into())
        }
    }
}

impl fmt::Debug for Gatehouse {
    /// Without the key.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Gatehouse")
            .field("url", &self.url)
            .field("tries", &self.tries)
            .finish_non_exhaustive()
    }
}
