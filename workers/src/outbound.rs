//! The only HTTP client for addresses that tenants chose: webhooks are posted, images are fetched.
//!
//! It connects to nothing that [`EgressPolicy`] forbids, uses no proxy, and bounds the time and the bytes of every answer. A
//! POST follows no redirect; a GET follows a few, each judged as if it were the first URL. Literal addresses are judged before
//! the request, names by their addresses when a connection is made. A kept-alive connection was judged when it was made.
//!
//! Every request needs a [`Socket`]. There are as many as the process may open, divided among the teams; connections that
//! wait for the next request are bounded apart from them. So no team can use up the process's file descriptors.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use domain::{
    id::TeamId,
    webhook::{KEPT_ANSWER_BYTES, READ_ANSWER_BYTES},
};
use http_body_util::Full;
use hyper::{
    Method, Request, Response,
    body::{Body as _, Incoming},
    header::{ACCEPT, HOST, HeaderMap, HeaderValue, RETRY_AFTER},
};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_util::task::AbortOnDropHandle;
use url::{Host, Position, Url};

mod address;
mod connection;
mod dial;
mod dns;
mod error;
mod fetch;
mod idle;
mod policy;
mod refusal;
mod sockets;
#[cfg(test)]
mod tests;

pub use error::OutboundError;
pub use fetch::{Fetch, FetchError, MAX_REDIRECTS};
pub use policy::{AllowedRange, EgressPolicy, Exemption, HostPort};
pub use refusal::Refusal;
pub use sockets::{Busy, Socket};

use connection::Connection;
use dns::{Dns, Resolver};
use idle::{Idle, Origin};
use policy::Route;
use sockets::Sockets;

/// Receivers commonly close idle connections after 60 s or more; staying below avoids writing into a closing one.
const IDLE_FOR: Duration = Duration::from_secs(30);

/// How much a process opens on behalf of tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections in use: one for each running request. A team may have at most as many as remain free.
    pub connections: usize,
    /// Connections kept for the next request. At the limit, the team with the most loses one.
    pub idle: usize,
    /// Names looked up at once. A team may have at most as many as remain free.
    pub lookups: usize,
}

impl Default for Bounds {
    /// 2,048, 512, 32.
    fn default() -> Self {
        Self {
            connections: 2_048,
            idle: 512,
            lookups: 32,
        }
    }
}

/// The guarded HTTP client. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Outbound(Arc<Inner>);

struct Inner {
    policy: EgressPolicy,
    tls: TlsConnector,
    dns: Dns,
    sockets: Sockets,
    idle: Arc<Idle>,
}

/// A POST request.
#[derive(Debug)]
pub struct Post<'a> {
    /// Where to, as the tenant wrote it.
    pub url: &'a str,
    /// All headers but `Host` and `Content-Length`.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// The time for everything: resolving, connecting, sending and receiving.
    pub deadline: Duration,
}

/// What a receiver answered.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// The header `Retry-After`, when it is text.
    pub retry_after: Option<String>,
    /// The first [`KEPT_ANSWER_BYTES`] of the body as they came over the wire.
    pub body: Vec<u8>,
}

impl Outbound {
    /// A client that obeys `policy`, keeps within `bounds`, and resolves names as the operating system does.
    pub fn new(policy: EgressPolicy, bounds: Bounds) -> Self {
        Self::with_resolver(policy, bounds, dns::system())
    }

    fn with_resolver(policy: EgressPolicy, bounds: Bounds, resolver: Arc<Resolver>) -> Self {
        // Shown as 0 from the start: a counter that first appears with its first refusal has no increase then.
        for reason in Refusal::ALL {
            blocked(reason).increment(0);
        }
        Self(Arc::new(Inner {
            policy,
            tls: TlsConnector::from(Arc::new(crate::tls::client_config())),
            dns: Dns::new(bounds.lookups, resolver),
            sockets: Sockets::new(bounds.connections),
            idle: Idle::new(bounds.idle, IDLE_FOR),
        }))
    }

    /// The rules that it obeys.
    pub fn policy(&self) -> &EgressPolicy {
        &self.0.policy
    }

    /// How many connections may be in use at once.
    pub fn connections(&self) -> usize {
        self.0.sockets.bound()
    }

    /// Waits some seconds for a connection that this team may open. Take it before anything that others wait for.
    ///
    /// # Errors
    /// None became free. Try again later, and do not take it for a failure of the receiver.
    pub async fn socket(&self, team: TeamId) -> Result<Socket, Busy> {
        self.0.sockets.take(team).await
    }

    /// Sends one request for the team that has `socket` and reads the answer, whatever its status.
    pub async fn post(&self, socket: Socket, post: Post<'_>) -> Result<Answer, OutboundError> {
        let answer = self.exchange(socket, post).await;
        if let Err(OutboundError::Refused(reason)) = &answer {
            blocked(*reason).increment(1);
        }
        answer
    }

    async fn exchange(&self, socket: Socket, post: Post<'_>) -> Result<Answer, OutboundError> {
        let url = Url::parse(post.url).map_err(|_| OutboundError::Refused(Refusal::Url))?;
        let inner = Arc::clone(&self.0);
        let route = inner.admit(&socket, &url)?;
        let request = request(Method::POST, &url, post.headers, post.body)?;
        // On a task of its own: all deliveries of a process run on one, and TLS takes its time.
        let exchange = tokio::spawn(timeout(post.deadline, async move {
            inner.post(&socket, route, request).await
        }));
        match AbortOnDropHandle::new(exchange).await {
            Ok(answer) => answer.unwrap_or(Err(OutboundError::Timeout)),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends, and nobody will read this.
                Err(_) => Err(OutboundError::Timeout),
            },
        }
    }
}

impl Inner {
    async fn post(
        &self,
        socket: &Socket,
        route: Admitted,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Answer, OutboundError> {
        while let Some(mut connection) = self.idle.take(socket.team(), &route.origin) {
            if !connection.is_free().await {
                continue;
            }
            match connection.send(request).await {
                Ok(response) => return self.answer(socket, route, connection, response).await,
                Err(mut error) => match error.take_message() {
                    // It was closed before anything was sent.
                    Some(unsent) => request = unsent,
                    None => return Err(error.into_error().into()),
                },
            }
        }
        let mut connection = self.connect(socket, &route).await?;
        let response = connection.send(request).await;
        let response = response.map_err(|error| OutboundError::from(error.into_error()))?;
        self.answer(socket, route, connection, response).await
    }

    /// Reads the answer, and keeps the connection if nothing is left on it.
    async fn answer(
        &self,
        socket: &Socket,
        route: Admitted,
        mut connection: Connection,
        response: Response<Incoming>,
    ) -> Result<Answer, OutboundError> {
        let (head, mut body) = response.into_parts();
        let (mut kept, mut read, mut is_over) = (Vec::new(), 0, body.is_end_stream());
        while !is_over && read < READ_ANSWER_BYTES {
            if let Some(chunk) = connection.chunk(&mut body).await? {
                read += chunk.len();
                let room = KEPT_ANSWER_BYTES - kept.len();
                kept.extend_from_slice(&chunk[..chunk.len().min(room)]);
            } else {
                is_over = true;
            }
        }
        drop(body);
        if is_over && connection.is_free().await {
            self.idle.put(socket.team(), route.origin, connection);
        }
        Ok(Answer {
            status: head.status.as_u16(),
            retry_after: retry_after(&head.headers),
            body: kept,
        })
    }

    fn admit(&self, socket: &Socket, url: &Url) -> Result<Admitted, OutboundError> {
        let route = self.policy.admit(socket.team(), url);
        let route = route.map_err(OutboundError::Refused)?;
        let origin = Origin::of(url).ok_or(OutboundError::Refused(Refusal::Url))?;
        Ok(Admitted { route, origin })
    }

    /// Opens a connection. It lives no longer than `socket`, or is kept as an idle one.
    async fn connect(&self, socket: &Socket, to: &Admitted) -> Result<Connection, OutboundError> {
        let (team, Origin { host, port, .. }) = (socket.team(), &to.origin);
        let ips = match host {
            Host::Ipv4(ip) => vec![(*ip).into()],
            Host::Ipv6(ip) => vec![(*ip).into()],
            Host::Domain(name) => {
                let ips = self.dns.look_up(team, name).await?;
                // One bad address among good ones refuses them all: which one is dialled would otherwise be the choice of
                // the name's owner. Exactly the addresses judged here are dialled, so a name gains nothing by changing its mind.
                if to.route == Route::Guarded {
                    for ip in &ips {
                        let judged = self.policy.judge(team, *ip, *port);
                        judged.map_err(OutboundError::Refused)?;
                    }
                }
                ips
            }
        };
        let addresses: Vec<_> = ips
            .into_iter()
            .map(|ip| SocketAddr::new(ip, *port))
            .collect();
        let stream = dial::dial(&addresses, || self.sockets.spare(team)).await;
        let stream = stream.map_err(OutboundError::connecting)?;
        if to.origin.is_https {
            Connection::secure(stream, &self.tls, host).await
        } else {
            Connection::plain(stream).await
        }
    }
}

/// Where a team may connect to.
struct Admitted {
    route: Route,
    origin: Origin,
}

fn request(
    method: Method,
    url: &Url,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Request<Full<Bytes>>, OutboundError> {
    let unfit = || OutboundError::Refused(Refusal::Url);
    let mut host = url.host_str().ok_or_else(unfit)?.to_owned();
    if let Some(port) = url.port() {
        host = format!("{host}:{port}");
    }
    let target = &url[Position::BeforePath..Position::AfterQuery];
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = target.parse().map_err(|_| unfit())?;
    *request.headers_mut() = headers;
    let headers = request.headers_mut();
    headers.insert(HOST, HeaderValue::try_from(host).map_err(|_| unfit())?);
    headers
        .entry(ACCEPT)
        .or_insert(HeaderValue::from_static("*/*"));
    Ok(request)
}

fn retry_after(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(RETRY_AFTER)?;
    value.to_str().ok().map(str::to_owned)
}

fn blocked(reason: Refusal) -> metrics::Counter {
    metrics::counter!("gatehouse_egress_blocked_total", "reason" => reason.label())
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner")
            .field("policy", &self.policy)
            .field("dns", &self.dns)
            .field("sockets", &self.sockets)
            .field("idle", &self.idle)
            .finish_non_exhaustive()
    }
}
