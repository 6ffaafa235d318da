//! The exporter of spans: takes them from this process's sink and sends them to the operator's
//! collector, by OTLP over HTTP with protobuf.
//!
//! It never delays what it tells of. What the collector does not take is dropped and counted.

mod protobuf;

use std::time::Duration;

use prost::Message as _;
use reqwest::{Client, header::CONTENT_TYPE, redirect};
use telemetry::{
    RepeatedFailure, failed, over,
    trace::{Dropped, Ended, Sink, Spans, dropped},
};
use tokio::{
    select,
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use url::Url;
use uuid::Uuid;

use crate::config::OtlpOptions;
use protobuf::Origin;

/// The most spans in one request.
const BATCH: usize = 512;
/// The pause between two requests, in which spans gather.
const GATHERING: Duration = Duration::from_millis(200);
/// The pause after a request that failed.
const RECOVERING: Duration = Duration::from_secs(5);
/// How long connecting may take.
const CONNECTING: Duration = Duration::from_secs(2);
/// How long one request may take.
const DEADLINE: Duration = Duration::from_secs(5);

/// How long the last spans may take when the process stops.
const FINISH: Duration = Duration::from_secs(2);

/// Sends spans in the background until the process stops, if the operator wants it.
pub(crate) struct Export(Option<(CancellationToken, JoinHandle<()>)>);

impl Export {
    /// Starts to send spans if there is a collector.
    ///
    /// # Errors
    /// The HTTP client cannot be made.
    pub(crate) fn start(options: &OtlpOptions) -> anyhow::Result<Self> {
        let Some(endpoint) = options.otlp_endpoint.clone() else {
            return Ok(Self(None));
        };
        let http = Client::builder()
            .tls_backend_preconfigured(workers::tls::client_config())
            .user_agent(concat!("Gatehouse/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECTING)
            .timeout(DEADLINE)
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build()?;
        let sending = Sending {
            http,
            url: traces_of(endpoint),
            origin: Origin {
                instance: Uuid::now_v7().to_string(),
                version: env!("CARGO_PKG_VERSION"),
            },
            works: true,
            trouble: RepeatedFailure::in_turn(),
        };
        let (sink, spans) = Sink::new(options.otlp_sample);
        let stop = CancellationToken::new();
        let task = tokio::spawn(sending.run(spans, stop.clone()));
        telemetry::trace::install(sink);
        Ok(Self(Some((stop, task))))
    }

    /// Sends the last spans.
    pub(crate) async fn finish(self) {
        let Some((stop, mut task)) = self.0 else {
            return;
        };
        stop.cancel();
        if timeout(FINISH, &mut task).await.is_err() {
            task.abort();
        }
    }
}

/// The address that takes traces, below the collector's.
fn traces_of(mut endpoint: Url) -> Url {
    let path = format!("{}/v1/traces", endpoint.path().trim_end_matches('/'));
    endpoint.set_path(&path);
    endpoint
}

/// Why the collector did not take spans.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error(transparent)]
    Broken(reqwest::Error),
    #[error("the collector answered with status {0}")]
    Status(u16),
}

struct Sending {
    http: Client,
    url: Url,
    origin: Origin,
    /// Whether the collector took the last spans.
    works: bool,
    trouble: RepeatedFailure,
}

impl Sending {
    async fn run(mut self, mut spans: Spans, stop: CancellationToken) {
        loop {
            let batch = select! {
                batch = spans.next(BATCH) => batch,
                () = stop.cancelled() => break,
            };
            let pause = if self.send(batch).await {
                GATHERING
            } else {
                RECOVERING
            };
            if self.works && spans.waiting() >= BATCH {
                continue;
            }
            select! {
                () = sleep(pause) => {}
                () = stop.cancelled() => break,
            }
        }
        spans.close();
        loop {
            let batch = spans.next(BATCH).await;
            if batch.is_empty() {
                return;
            }
            self.send(batch).await;
        }
    }

    async fn send(&mut self, batch: Vec<Ended>) -> bool {
        let count = batch.len();
        let sent = self.post(batch).await;
        match &sent {
            Ok(()) => over!(
                self.trouble.worked(),
                "the collector of traces takes spans again"
            ),
            Err(error) => {
                dropped(Dropped::NotTaken, count as u64);
                failed!(
                    self.trouble.failed(),
                    %error,
                    "the collector of traces takes no spans; they are dropped until it does"
                );
            }
        }
        self.works = sent.is_ok();
        self.works
    }

    async fn post(&self, batch: Vec<Ended>) -> Result<(), NotTaken> {
        let body = self.origin.request(batch).encode_to_vec();
        let request = self.http.post(self.url.clone()).body(body);
        let request = request.header(CONTENT_TYPE, "application/x-protobuf");
        // The URL may have a password.
        let answer = request.send().await;
        let answer = answer.map_err(|error| NotTaken::Broken(error.without_url()))?;
        if answer.status().is_success() {
            Ok(())
        } else {
            Err(NotTaken::Status(answer.status().as_u16()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_go_below_the_collectors_address() {
        for (endpoint, url) in [
            ("http://c:4318", "http://c:4318/v1/traces"),
            ("http://c:4318/", "http://c:4318/v1/traces"),
            ("https://c/otlp/", "https://c/otlp/v1/traces"),
        ] {
            assert_eq!(traces_of(endpoint.parse().unwrap()).as_str(), url);
        }
    }
}
