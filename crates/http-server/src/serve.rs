//! The accept loop: HTTP/1.1 with limits for the time and the number of connections. A shutdown
//! lets running requests finish, and refuses no client that could not know of it.
//!
//! poem's own server is not used, because it bounds nothing: a client that sends one header byte a
//! second, or never reads its answer, would keep its connection forever.

mod accept;
mod malformed_requests;
mod socket_timeouts;

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use fair_share::Proxies;
use http_body_util::{BodyExt as _, combinators::BoxBody};
use hyper::{
    HeaderMap,
    body::{Body as HttpBody, Frame, Incoming, SizeHint},
    header::{CONNECTION, EXPECT, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use poem::{
    Addr, Body, Endpoint, Request, Response,
    http::uri::Scheme,
    web::{LocalAddr, RemoteAddr},
};
use tokio::{
    net::TcpListener,
    runtime::Handle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use self::{
    accept::{Acceptor, Connection},
    malformed_requests::MalformedRequests,
    socket_timeouts::{SocketTimeouts, TimedSocket, Turns},
};
use crate::error_responses::ErrorResponses;

/// The bounds of a listener.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long a request's head may take to arrive, from its first byte. On a new connection, the
    /// time begins at once.
    pub head: Duration,
    /// How long a connection may stay open between two requests.
    pub idle: Duration,
    /// How long a client may take to read an answer.
    pub answer: Duration,
    /// The most open connections. Further ones wait in the system's backlog. One address may use at
    /// most as many as remain free.
    pub connections: usize,
    /// Proxies, which can have all of them.
    pub proxies: Proxies,
    /// How long connections are still accepted after a shutdown begins. Meanwhile, answers have
    /// `Connection: close`, so load balancers and clients have time to go elsewhere.
    pub drain: Duration,
    /// How long running requests may take to finish after that.
    pub finish: Duration,
}

impl Default for Settings {
    /// 5 s, 75 s, 30 s, 10,000 connections, no proxies, no draining, 10 s.
    fn default() -> Self {
        Self {
            head: Duration::from_secs(5),
            // Load balancers keep idle connections for a minute. The server must not close first,
            // or requests that are on their way would be lost.
            idle: Duration::from_secs(75),
            answer: Duration::from_secs(30),
            connections: 10_000,
            proxies: Proxies::default(),
            drain: Duration::ZERO,
            finish: Duration::from_secs(10),
        }
    }
}

/// The largest request head, and how much is read from a socket at a time. Every connection can use
/// this much memory.
const BUFFER_BYTES: usize = 16 << 10;
/// How long the rest of a body is read.
const LINGER: Duration = Duration::from_secs(2);
/// How much of it is read: enough for any honest body.
const LINGER_BYTES: usize = 64 << 20;

/// Serves until `shutdown` resolves and the time to drain has passed. Then it closes the listener,
/// lets running requests finish within their limit, and cuts off the rest.
///
/// # Errors
/// When the listener has no local address.
pub async fn serve<E>(
    listener: TcpListener,
    endpoint: E,
    errors: Arc<dyn ErrorResponses>,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> io::Result<()>
where
    E: Endpoint<Output = Response> + 'static,
{
    let address = listener.local_addr()?;
    let local = LocalAddr(Addr::SocketAddr(address));
    let endpoint = Arc::new(endpoint);
    let timeouts = SocketTimeouts {
        head: settings.head,
        answer: settings.answer,
    };
    let acceptor = Acceptor::new(
        listener,
        settings.connections,
        settings.proxies,
        Arc::clone(&errors),
    );
    let graceful = GracefulShutdown::new();
    let cut_off = CancellationToken::new();
    let leaving = CancellationToken::new();
    malformed_requests::declare();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(settings.idle)
        .max_buf_size(BUFFER_BYTES);

    let accepting = async {
        loop {
            let Connection { stream, peer, slot } = acceptor.next().await;
            let remote = RemoteAddr(Addr::SocketAddr(peer));
            let (endpoint, local) = (Arc::clone(&endpoint), local.clone());
            let leaving = leaving.clone();
            let turns = Turns::default();
            let stream = TimedSocket::new(stream, timeouts, turns.clone(), acceptor.room());
            let stream = MalformedRequests::new(stream, Arc::clone(&errors));
            let service = service_fn(move |request: hyper::Request<Incoming>| {
                let turn = turns.take();
                let request = received(request, local.clone(), remote.clone());
                let endpoint = Arc::clone(&endpoint);
                let leaving = leaving.clone();
                async move {
                    let mut response: hyper::Response<_> =
                        endpoint.get_response(request).await.into();
                    if leaving.is_cancelled() {
                        let last = HeaderValue::from_static("close");
                        response.headers_mut().insert(CONNECTION, last);
                    }
                    drop(turn);
                    Ok::<_, Infallible>(response)
                }
            });
            let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
            let cut_off = cut_off.clone();
            tokio::spawn(async move {
                tokio::select! {
                    ended = connection => if let Err(error) = ended {
                        debug!(%error, "a connection ended early");
                    },
                    () = cut_off.cancelled() => {}
                }
                drop(slot);
            });
        }
    };
    let stopping = async {
        shutdown.await;
        leaving.cancel();
        if !settings.drain.is_zero() {
            info!(
                drain_seconds = settings.drain.as_secs(),
                "still accepting connections until clients have gone elsewhere"
            );
        }
        sleep(settings.drain).await;
    };
    tokio::select! {
        () = accepting => {}
        () = stopping => {}
    }
    drop(acceptor);
    info!(
        %address,
        connections = graceful.count(),
        "no longer accepting connections"
    );
    if timeout(settings.finish, graceful.shutdown()).await.is_err() {
        warn!(after = ?settings.finish, "some requests were still running and were stopped");
        cut_off.cancel();
    }
    Ok(())
}

fn received(request: hyper::Request<Incoming>, local: LocalAddr, remote: RemoteAddr) -> Request {
    let (head, body) = request.into_parts();
    let body = if body.is_end_stream() {
        Body::empty()
    } else {
        BoxBody::new(Lingering::new(body, &head.headers)).into()
    };
    Request::from_parts((head, local, remote, Scheme::HTTP).into(), body)
}

/// A request's body, which perhaps nobody reads to its end.
///
/// A request can be refused before its body has been read. If the server closed at once, the
/// connection of a client that is still sending would be reset, and the answer lost. So the rest of
/// the body is read for a moment and dropped.
struct Lingering {
    body: Option<Incoming>,
    /// The client waits for a `100 Continue`, which the first read sends, before it sends anything. If nobody reads, it
    /// gets its refusal instead and keeps the body.
    waits: bool,
}

impl Lingering {
    fn new(body: Incoming, headers: &HeaderMap) -> Self {
        let expected = headers.get(EXPECT);
        Self {
            body: Some(body),
            waits: expected
                .is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue")),
        }
    }
}

impl HttpBody for Lingering {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.waits = false;
        let Some(body) = &mut self.body else {
            return Poll::Ready(None);
        };
        let frame = Pin::new(body).poll_frame(cx);
        frame.map_err(io::Error::other)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body
            .as_ref()
            .map_or_else(SizeHint::default, HttpBody::size_hint)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let rest = self
            .body
            .take()
            .filter(|body| !self.waits && !body.is_end_stream());
        if let (Some(rest), Ok(runtime)) = (rest, Handle::try_current()) {
            runtime.spawn(discard(rest));
        }
    }
}

async fn discard(mut body: Incoming) {
    let rest = async {
        let mut discarded = 0;
        while discarded < LINGER_BYTES
            && let Some(Ok(frame)) = body.frame().await
        {
            discarded += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // It has ended, or its time is over.
    let _ = timeout(LINGER, rest).await;
}
