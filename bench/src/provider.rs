//! A stand-in for OpenAI's moderation endpoint with a limit of tokens per minute, of four bytes
//! each. It finds nothing in any text, can be slow, and counts what it is asked.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

/// The tokens per minute of a provider without a limit: more than is ever asked for.
const UNLIMITED: u32 = 1_000_000_000;
/// What it scores.
const CATEGORIES: [&str; 13] = [
    "harassment",
    "harassment/threatening",
    "hate",
    "hate/threatening",
    "illicit",
    "illicit/violent",
    "self-harm",
    "self-harm/instructions",
    "self-harm/intent",
    "sexual",
    "sexual/minors",
    "violence",
    "violence/graphic",
];

/// The server.
pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    bucket: Arc<Mutex<Bucket>>,
}

/// What it was asked.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Asked {
    /// Requests that it answered.
    pub(crate) answered: u64,
    /// Requests that met the limit.
    pub(crate) limited: u64,
    /// The most requests that it had at once.
    pub(crate) most_at_once: u64,
}

struct Bucket {
    a_minute: f64,
    tokens: f64,
    since: Instant,
    /// Requests that it has now.
    open: u64,
    asked: Asked,
}

/// A request, until it is answered or its client is gone.
struct Open(Arc<Mutex<Bucket>>);

#[derive(Deserialize)]
struct Question {
    input: Vec<String>,
}

impl Provider {
    /// A server with this number of tokens a minute, which answers after this delay.
    pub(crate) async fn start(a_minute: u32, delay: Duration) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let a_minute = f64::from(a_minute);
        let bucket = Arc::new(Mutex::new(Bucket {
            a_minute,
            tokens: a_minute,
            since: Instant::now(),
            open: 0,
            asked: Asked::default(),
        }));
        tokio::spawn(serve(listener, Arc::clone(&bucket), delay));
        Ok(Self { address, bucket })
    }

    /// A server without a limit, which answers after this delay.
    pub(crate) async fn slow(delay: Duration) -> anyhow::Result<Self> {
        Self::start(UNLIMITED, delay).await
    }

    /// Resets the tokens and the counts.
    pub(crate) fn refill(&self) {
        let mut bucket = lock(&self.bucket);
        bucket.tokens = bucket.a_minute;
        bucket.since = Instant::now();
        bucket.asked = Asked {
            most_at_once: bucket.open,
            ..Asked::default()
        };
    }

    /// What it was asked since.
    pub(crate) fn asked(&self) -> Asked {
        lock(&self.bucket).asked
    }
}

impl Open {
    fn begin(bucket: &Arc<Mutex<Bucket>>) -> Self {
        let mut locked = lock(bucket);
        locked.open += 1;
        locked.asked.most_at_once = locked.asked.most_at_once.max(locked.open);
        drop(locked);
        Self(Arc::clone(bucket))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        lock(&self.0).open -= 1;
    }
}

impl Bucket {
    /// Takes the tokens of this number of bytes, or returns how long it takes until they are
    /// available.
    fn take(&mut self, bytes: usize) -> Result<(), Duration> {
        let came = self.since.elapsed().as_secs_f64() * self.a_minute / 60.0;
        self.tokens = (self.tokens + came).min(self.a_minute);
        self.since = Instant::now();
        let needed = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 4.0;
        if needed <= self.tokens {
            self.tokens -= needed;
            self.asked.answered += 1;
            return Ok(());
        }
        self.asked.limited += 1;
        let missing = needed - self.tokens;
        Err(Duration::from_secs_f64(missing * 60.0 / self.a_minute))
    }
}

fn lock(bucket: &Mutex<Bucket>) -> MutexGuard<'_, Bucket> {
    bucket.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(listener: TcpListener, bucket: Arc<Mutex<Bucket>>, delay: Duration) {
    while let Ok((stream, _)) = listener.accept().await {
        let bucket = Arc::clone(&bucket);
        let answering = service_fn(move |request| answer(request, Arc::clone(&bucket), delay));
        tokio::spawn(async move {
            // The worker closes it when it ends.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), answering)
                .await;
        });
    }
}

async fn answer(
    request: Request<Incoming>,
    bucket: Arc<Mutex<Bucket>>,
    delay: Duration,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let _open = Open::begin(&bucket);
    let body = request.into_body().collect().await;
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let body = body
        .map(http_body_util::Collected::to_bytes)
        .unwrap_or_default();
    let Ok(Question { input }) = serde_json::from_slice(&body) else {
        return Ok(respond(StatusCode::BAD_REQUEST, &json!({})));
    };
    let bytes = input.iter().map(String::len).sum();
    let taken = lock(&bucket).take(bytes);
    Ok(match taken {
        Ok(()) => {
            let results: Vec<Value> = input.iter().map(|_| calm()).collect();
            respond(
                StatusCode::OK,
                &json!({ "id": "modr-1", "model": "m", "results": results }),
            )
        }
        Err(wait) => {
            let error = json!({ "error": {
                "message": "too many tokens", "type": "tokens", "param": null, "code": "rate_limit_exceeded",
            } });
            let mut response = respond(StatusCode::TOO_MANY_REQUESTS, &error);
            // As the service says it: whole seconds, and milliseconds.
            let headers = response.headers_mut();
            headers.insert("retry-after", (wait.as_secs() + 1).into());
            if let Ok(milliseconds) = wait.as_millis().to_string().parse() {
                headers.insert("retry-after-ms", milliseconds);
            }
            response
        }
    })
}

/// A judgement that finds nothing.
fn calm() -> Value {
    let all = |value: Value| -> Map<String, Value> {
        let names = CATEGORIES.into_iter();
        names.map(|name| (name.to_owned(), value.clone())).collect()
    };
    json!({
        "flagged": false,
        "categories": all(json!(false)),
        "category_scores": all(json!(0.01)),
        "category_applied_input_types": all(json!(["text"])),
    })
}

fn respond(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(body.to_string().into()));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::{Client, get};

    #[tokio::test]
    async fn the_most_requests_at_once_are_counted_since_the_last_reset() -> anyhow::Result<()> {
        let provider = Provider::slow(Duration::from_millis(500)).await?;
        // It refuses what is no question, after the same time.
        let ask = async || Client::new(provider.address).send(&get("/")).await.is_ok();
        let (one, other, third) = tokio::join!(ask(), ask(), ask());
        assert!(one && other && third);
        assert_eq!(provider.asked().most_at_once, 3);
        provider.refill();
        assert_eq!(provider.asked().most_at_once, 0);
        assert!(ask().await);
        assert!(ask().await);
        assert_eq!(provider.asked().most_at_once, 1);
        Ok(())
    }
}
