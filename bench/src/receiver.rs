//! A receiver of webhooks that verifies everything a receiver can verify, remembers what came when, and can fail or dawdle.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, ensure};
use bytes::Bytes;
use domain::{
    event::EventKind,
    media::Status,
    signature::{self, WebhookSecret, verify_service, verify_standard},
};
use http_body_util::{BodyExt as _, Empty};
use hyper::{
    HeaderMap, Request, Response, StatusCode, body::Incoming, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde::Deserialize;
use tokio::net::TcpListener;
use uuid::Uuid;

/// How many complaints are kept in words.
const KEPT_COMPLAINTS: usize = 10;

/// How badly the receiver behaves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Manners {
    /// The share of requests that are answered with a 500, from 0 to 1.
    pub(crate) failing: f64,
    /// How long every answer takes.
    pub(crate) delay: Duration,
    /// Takes everything as it is, and only counts it.
    pub(crate) careless: bool,
    /// Can be killed: everything comes through a relay.
    pub(crate) mortal: bool,
}

/// What came for one event of one item.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// When it was first taken with a 200.
    pub(crate) first: Instant,
    /// How often it was taken.
    pub(crate) times: u32,
    /// The site that it came for.
    pub(crate) site: usize,
    pub(crate) delivery: Uuid,
    pub(crate) event: Uuid,
    /// The status that it told.
    pub(crate) status: Status,
    body: u64,
}

/// An item and one kind of event.
pub(crate) type Key = (Uuid, EventKind);

/// Everything that came.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) arrivals: HashMap<Key, Arrival>,
    /// How many requests a careless receiver took, and when the first and the last of them came.
    pub(crate) taken: u64,
    pub(crate) between: Option<(Instant, Instant)>,
    /// How many requests were answered with a 500 on purpose.
    pub(crate) refused: u64,
    /// How many requests no receiver should get, and the first few in words.
    pub(crate) complaints: u64,
    pub(crate) examples: Vec<String>,
}

struct Shared {
    manners: Manners,
    secrets: Mutex<Vec<WebhookSecret>>,
    random: Mutex<StdRng>,
    /// Sites that are answered later than others.
    slow: Mutex<HashMap<usize, Duration>>,
    seen: Mutex<Seen>,
}

/// A running receiver.
pub(crate) struct Receiver {
    address: SocketAddr,
    /// Where it is said to be.
    public: SocketAddr,
    shared: Arc<Shared>,
}

impl Receiver {
    /// Listens on a free port of this machine.
    pub(crate) async fn start(manners: Manners, seed: u64) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            manners,
            secrets: Mutex::default(),
            random: Mutex::new(StdRng::seed_from_u64(seed)),
            slow: Mutex::default(),
            seen: Mutex::default(),
        });
        tokio::spawn(listen(listener, Arc::clone(&shared)));
        Ok(Self {
            address,
            public: address,
            shared,
        })
    }

    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on says that it is somewhere else, from where what comes is passed on to it.
    pub(crate) const fn move_behind(&mut self, public: SocketAddr) {
        self.public = public;
    }

    /// The URL for webhooks that are signed with this secret. Sites are counted from 0.
    pub(crate) fn url_for(&self, secret: WebhookSecret) -> String {
        let mut secrets = lock(&self.shared.secrets);
        secrets.push(secret);
        format!("http://{}/{}", self.public, secrets.len() - 1)
    }

    /// From now on answers to these sites only after so long, and to all others as its manners are.
    pub(crate) fn slow_down(&self, sites: impl IntoIterator<Item = (usize, Duration)>) {
        *lock(&self.shared.slow) = sites.into_iter().collect();
    }

    /// What came so far.
    pub(crate) fn seen(&self) -> MutexGuard<'_, Seen> {
        lock(&self.shared.seen)
    }

    /// Forgets what came.
    pub(crate) fn clear(&self) {
        *self.seen() = Seen::default();
    }
}

/// A panic elsewhere ends the benchmark anyway.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, say: the sender tries again.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(Arc::clone(&shared), request));
            // A sender that is killed breaks its connections; what it wanted to say comes again.
            let _ = http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        return Ok(respond(StatusCode::BAD_REQUEST));
    };
    let body = body.to_bytes();
    if shared.manners.careless {
        lock(&shared.seen).count();
        return Ok(respond(StatusCode::OK));
    }
    let delay = delay(&shared, head.uri.path());
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let read = read(&shared, head.uri.path(), &head.headers, &body);
    let fails = lock(&shared.random).random_bool(shared.manners.failing);
    let mut seen = lock(&shared.seen);
    match read {
        Ok(_) if fails => {
            seen.refused += 1;
            Ok(respond(StatusCode::INTERNAL_SERVER_ERROR))
        }
        Ok((key, arrival)) => {
            seen.take(key, arrival);
            Ok(respond(StatusCode::OK))
        }
        Err(error) => {
            seen.complain(&format!("{error:#}"));
            Ok(respond(StatusCode::BAD_REQUEST))
        }
    }
}

fn delay(shared: &Shared, path: &str) -> Duration {
    let site = path.trim_start_matches('/').parse().ok();
    let slow = site.and_then(|site: usize| lock(&shared.slow).get(&site).copied());
    slow.unwrap_or(shared.manners.delay)
}

fn respond(status: StatusCode) -> Response<Empty<Bytes>> {
    let mut response = Response::new(Empty::new());
    *response.status_mut() = status;
    response
}

impl Seen {
    fn count(&mut self) {
        let now = Instant::now();
        self.taken += 1;
        self.between = Some((self.between.map_or(now, |(first, _)| first), now));
    }

    fn take(&mut self, key: Key, arrival: Arrival) {
        let known = match self.arrivals.entry(key) {
            Entry::Vacant(place) => {
                place.insert(arrival);
                return;
            }
            Entry::Occupied(known) => known.into_mut(),
        };
        known.times += 1;
        let same = known.delivery == arrival.delivery
            && known.event == arrival.event
            && known.body == arrival.body;
        if !same {
            let (media, kind) = key;
            self.complain(&format!("{kind} of {media} came twice and not alike"));
        }
    }

    fn complain(&mut self, words: &str) {
        self.complaints += 1;
        if self.examples.len() < KEPT_COMPLAINTS {
            self.examples.push(words.to_owned());
        }
    }
}

#[derive(Deserialize)]
struct Envelope {
    event: EventKind,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    media_id: Uuid,
    status: Status,
}

/// Verifies a request in both schemes and reads what it tells.
fn read(
    shared: &Shared,
    path: &str,
    headers: &HeaderMap,
    body: &Bytes,
) -> anyhow::Result<(Key, Arrival)> {
    let header = |name: &str| {
        let value = headers
            .get(name)
            .with_context(|| format!("no header {name}"))?;
        value
            .to_str()
            .with_context(|| format!("an unreadable header {name}"))
    };
    let site: usize = path
        .trim_start_matches('/')
        .parse()
        .with_context(|| format!("a request to {path}"))?;
    let secret = lock(&shared.secrets)
        .get(site)
        .cloned()
        .with_context(|| format!("a request to {path}"))?;
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)?
        .as_secs();
    verify_service(&secret, header(signature::SERVICE_SIGNATURE)?, body)
        .context("X-Service-Signature")?;
    let id = header(signature::STANDARD_ID)?;
    let timestamp = header(signature::STANDARD_TIMESTAMP)?;
    let signatures = header(signature::STANDARD_SIGNATURE)?;
    verify_standard(&secret, id, timestamp, signatures, body, now.cast_signed())
        .context("webhook-signature")?;
    let envelope: Envelope = serde_json::from_slice(body)?;
    ensure!(
        header("X-Service-Event")? == envelope.event.as_str(),
        "the header X-Service-Event names another event"
    );
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let arrival = Arrival {
        first: Instant::now(),
        times: 1,
        site,
        delivery: header("X-Service-Delivery-ID")?.parse()?,
        event: id.parse()?,
        status: envelope.data.status,
        body: hasher.finish(),
    };
    Ok(((envelope.data.media_id, envelope.event), arrival))
}

#[cfg(test)]
mod tests;
