//! Requests of commands that send a file line by line. They keep to the limits of the service that they ask, and repeat what fails for
//! a passing reason.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::bail;
use reqwest::{
    RequestBuilder, Response, StatusCode,
    header::{HeaderMap, RETRY_AFTER},
    redirect,
};
use serde::Deserialize;
use tokio::time::sleep;

use crate::terminal::tell;

/// Longer than the longest wait for a verdict.
const ANSWERING: Duration = Duration::from_mins(1);
const CONNECTING: Duration = Duration::from_secs(15);
/// The largest answer that is read, in bytes. Verdicts and scores have a few kilobytes.
const LARGEST_ANSWER: usize = 4 << 20;
/// The pause after a failure, the first and the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Failures of one line in a row after which the command ends. They take about ten minutes.
const FAILURES: u32 = 24;

/// A client of one service.
pub(super) struct Client {
    http: reqwest::Client,
    /// The least time from one request to the next.
    interval: Duration,
    /// No request is sent before this time.
    not_before: Mutex<Instant>,
}

/// An answer that is final: another try would bring the same.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
}

impl Client {
    /// A client that names itself so, and leaves at least this time between two requests.
    ///
    /// # Errors
    /// TLS cannot be set up.
    pub(super) fn new(user_agent: &str, interval: Duration) -> anyhow::Result<Self> {
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(workers::tls::client_config())
            .user_agent(user_agent)
            .connect_timeout(CONNECTING)
            .timeout(ANSWERING)
            .redirect(redirect::Policy::none())
            .build()?;
        Ok(Self {
            http,
            interval,
            not_before: Mutex::new(Instant::now()),
        })
    }

    /// A request to this URL. [`Self::ask`] sends it.
    pub(super) fn post(&self, url: &str) -> RequestBuilder {
        self.http.post(url)
    }

    /// Repeats a request until its answer is final. `place` is what it is about, for messages: `line 7`.
    ///
    /// # Errors
    /// The service fails for too long.
    pub(super) async fn ask(
        &self,
        place: &str,
        request: impl Fn() -> RequestBuilder,
    ) -> anyhow::Result<Reply> {
        let mut failures = 0;
        loop {
            self.turn().await;
            let why = match self.send(request()).await {
                Ok(reply) => return Ok(reply),
                Err(why) => why,
            };
            failures += 1;
            if failures > FAILURES {
                bail!("{why}");
            }
            let pause = FIRST_PAUSE
                .saturating_mul(1 << (failures - 1).min(8))
                .min(LONGEST_PAUSE)
                .max(self.wait());
            let seconds = pause.as_secs_f64().ceil();
            tell(&format!("{place}: {why}; trying again in {seconds} s"));
            sleep(pause).await;
        }
    }

    /// Sends a request once. If it failed, it may succeed later.
    async fn send(&self, request: RequestBuilder) -> Result<Reply, String> {
        let answer = request.send().await.map_err(no_answer)?;
        let status = answer.status();
        if let Some(pause) = asked_pause(status, answer.headers()) {
            self.pause(pause);
        }
        let body = body(answer).await?;
        if may_pass(status, &body) {
            return Err(status.to_string());
        }
        Ok(Reply { status, body })
    }

    /// Waits for this request's turn: as long as the service asked for, and the interval after the request before.
    async fn turn(&self) {
        loop {
            let wait = {
                let mut not_before = self.not_before();
                let now = Instant::now();
                if *not_before <= now {
                    *not_before = now + self.interval;
                    return;
                }
                *not_before - now
            };
            sleep(wait).await;
        }
    }

    /// How long no request is sent.
    fn wait(&self) -> Duration {
        self.not_before().saturating_duration_since(Instant::now())
    }

    fn pause(&self, pause: Duration) {
        let mut not_before = self.not_before();
        // A time that the clock does not have is no time to wait for.
        if let Some(end) = Instant::now().checked_add(pause) {
            *not_before = (*not_before).max(end);
        }
    }

    fn not_before(&self) -> std::sync::MutexGuard<'_, Instant> {
        self.not_before
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

async fn body(mut answer: Response) -> Result<Vec<u8>, String> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(no_answer)? {
        if body.len() + chunk.len() > LARGEST_ANSWER {
            let limit = LARGEST_ANSWER >> 20;
            return Err(format!("the answer is larger than {limit} MiB"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Without the URL: it may have a key.
fn no_answer(error: reqwest::Error) -> String {
    let host = error
        .url()
        .and_then(|url| url.host_str())
        .map(str::to_owned);
    let error = anyhow::Error::from(error.without_url());
    match host {
        Some(host) => format!("no answer from {host}: {error:#}"),
        None => format!("no answer: {error:#}"),
    }
}

/// Whether the same request may succeed later.
fn may_pass(status: StatusCode, body: &[u8]) -> bool {
    let is_passing = status.is_server_error()
        || status == StatusCode::REQUEST_TIMEOUT
        || status == StatusCode::TOO_MANY_REQUESTS;
    is_passing && !is_final(body)
}

/// Codes that do not pass, although their status would: OpenAI answers 429 to an account without credit, and a site can want 503 for
/// what was not checked.
const FINAL: [&str; 2] = ["insufficient_quota", "not_checked"];

fn is_final(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Body {
        error: Failure,
    }
    #[derive(Deserialize)]
    struct Failure {
        code: Option<String>,
    }
    let body: Option<Body> = serde_json::from_slice(body).ok();
    body.and_then(|body| body.error.code)
        .is_some_and(|code| FINAL.contains(&code.as_str()))
}

/// The pause that the service asks for. After the last request of a minute, it is the rest of the minute.
fn asked_pause(status: StatusCode, headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok();
    if status == StatusCode::TOO_MANY_REQUESTS || status == StatusCode::SERVICE_UNAVAILABLE {
        let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
        return Some(Duration::from_secs(seconds));
    }
    let mut parameters = text("ratelimit")?
        .split(';')
        .filter_map(|part| part.split_once('='));
    let (_, left) = parameters.clone().find(|(name, _)| *name == "r")?;
    let (_, seconds) = parameters.find(|(name, _)| *name == "t")?;
    (left == "0").then(|| Some(Duration::from_secs(seconds.parse().ok()?)))?
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    fn pause(status: u16, name: &'static str, value: &'static str) -> Option<u64> {
        let headers = HeaderMap::from_iter([(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        )]);
        let pause = asked_pause(StatusCode::from_u16(status).unwrap(), &headers);
        pause.map(|pause| pause.as_secs())
    }

    #[test]
    fn the_service_says_how_long_to_pause() {
        assert_eq!(pause(429, "retry-after", "17"), Some(17));
        assert_eq!(pause(503, "retry-after", "1"), Some(1));
        assert_eq!(pause(200, "ratelimit", "\"submit\";r=0;t=41"), Some(41));
        assert_eq!(pause(200, "ratelimit", "\"submit\";r=998;t=41"), None);
        assert_eq!(pause(400, "retry-after", "17"), None);
    }

    #[test]
    fn a_pause_beyond_all_times_is_ignored() {
        let client = Client::new("test", Duration::ZERO).unwrap();
        client.pause(Duration::from_secs(u64::MAX));
        assert_eq!(client.wait(), Duration::ZERO);
        client.pause(Duration::from_hours(1));
        assert!(client.wait() > Duration::from_mins(50));
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let spent = br#"{"error":{"code":"insufficient_quota"}}"#;
        let unchecked = br#"{"error":{"code":"not_checked"}}"#;
        let limited = br#"{"error":{"code":"rate_limit_exceeded"}}"#;
        let google = br#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}"#;
        for (status, body, passes) in [
            (429, &limited[..], true),
            (429, &google[..], true),
            (429, &b"slow down"[..], true),
            (429, &spent[..], false),
            (503, &b""[..], true),
            (503, &unchecked[..], false),
            (408, &b""[..], true),
            (400, &b""[..], false),
            (401, &b""[..], false),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(may_pass(status, body), passes, "{status}");
        }
    }

    #[tokio::test]
    async fn a_failure_names_the_host_and_not_the_key() {
        // Nothing listens on this port.
        let client = Client::new("test", Duration::ZERO).unwrap();
        let request = client.post("http://127.0.0.1:1/analyze?key=hidden");
        let Err(why) = client.send(request).await else {
            panic!("somebody answered");
        };
        assert!(why.contains("127.0.0.1"), "{why}");
        assert!(!why.contains("hidden"), "{why}");
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_is_not_kept() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            // What nobody has read would reset the connection.
            let _ = stream.read(&mut [0; 4096]).await;
            let answer = [
                b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".as_slice(),
                &vec![b' '; LARGEST_ANSWER + 1],
            ];
            // The client ends the connection before the end.
            let _ = stream.write_all(&answer.concat()).await;
        });
        let client = Client::new("test", Duration::ZERO).unwrap();
        let request = client.post(&format!("http://{address}/"));
        let Err(why) = client.send(request).await else {
            panic!("all of it was kept");
        };
        assert!(why.contains("larger than 4 MiB"), "{why}");
    }
}
