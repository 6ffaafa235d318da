//! The only HTTP client for addresses that tenants chose: webhooks are posted, images are fetched.
//!
//! It connects to nothing that [`EgressPolicy`] forbids, uses no proxy, and limits the time and the
//! bytes of every answer. A POST follows no redirect. A GET follows a few, and checks each like the
//! first URL. Literal addresses are checked before the request. Names are checked by their
//! addresses when a connection is made. A kept-alive connection was checked when it was made.
//!
//! Every request needs a [`Socket`]. There are as many as the process may open, divided among the
//! teams. Idle connections have a limit of their own. So no team can use up the process's file
//! descriptors.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use domain::id::TeamId;
use http_body_util::Full;
use hyper::{
    Method, Request,
    header::{ACCEPT, HOST, HeaderMap, HeaderValue, RETRY_AFTER},
};
use tokio_rustls::TlsConnector;
use url::{Host, Position, Url};

mod connection;
mod connection_shares;
mod dns;
mod egress_policy;
mod error;
mod fetch;
mod idle_connections;
mod post;
#[cfg(test)]
mod tests;

pub use connection_shares::{Busy, Socket};
pub use egress_policy::{AllowedRange, EgressPolicy, Exemption, HostPort};
pub use error::{OutboundError, Refusal};
pub use fetch::{Fetch, FetchError, MAX_REDIRECTS};
pub use post::{Answer, Post};

use connection::Connection;
use connection_shares::Sockets;
use dns::{Dns, Resolver};
use egress_policy::Route;
use idle_connections::{IdleConnections, Origin};

/// Receivers commonly close idle connections after 60 s or more; staying below avoids writing into a closing one.
const IDLE_FOR: Duration = Duration::from_secs(30);

/// How many connections a process opens for tenants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections in use, one for each running request. A team may have at most as many as remain
    /// free.
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
    idle: Arc<IdleConnections>,
}

impl Outbound {
    /// A client that obeys `policy`, keeps within `bounds`, and resolves names as the operating system does.
    pub fn new(policy: EgressPolicy, bounds: Bounds) -> Self {
        Self::with_resolver(policy, bounds, dns::system())
    }

    fn with_resolver(policy: EgressPolicy, bounds: Bounds, resolver: Arc<Resolver>) -> Self {
        // Set to 0 at the start. Otherwise Prometheus would not see the first increase.
        for reason in Refusal::ALL {
            blocked(reason).increment(0);
        }
        Self(Arc::new(Inner {
            policy,
            tls: TlsConnector::from(Arc::new(crate::tls::client_config())),
            dns: Dns::new(bounds.lookups, resolver),
            sockets: Sockets::new(bounds.connections),
            idle: IdleConnections::new(bounds.idle, IDLE_FOR),
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
    /// None became free. Try again later. This is not a failure of the receiver.
    pub async fn socket(&self, team: TeamId) -> Result<Socket, Busy> {
        self.0.sockets.take(team).await
    }
}

impl Inner {
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
                // One forbidden address refuses them all. Otherwise the owner of the name could
                // choose which one is dialled. Exactly the addresses that are checked here are
                // dialled, so a name that changes its answer gains nothing.
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
        let stream = connection::dial(&addresses, || self.sockets.spare(team)).await;
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
