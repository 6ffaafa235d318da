//! The only HTTP client for addresses that tenants chose: webhooks are posted, images are fetched.
//!
//! It connects to nothing that [`EgressPolicy`] forbids, uses no proxy, and bounds the time and the bytes of every answer. A
//! POST follows no redirect; a GET follows a few, each judged as if it were the first URL. Literal addresses are judged before the request, because the HTTP client resolves only names;
//! names are judged by their addresses when a connection is made. A kept-alive connection was judged when it was made.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use bytes::Bytes;
use domain::webhook::READ_ANSWER_BYTES;
use reqwest::{
    Client, Response,
    dns::Resolve,
    header::{HeaderMap, RETRY_AFTER},
    redirect,
};
use rustls::ClientConfig;
use url::Url;

mod address;
mod dns;
mod error;
mod fetch;
mod policy;
mod refusal;
#[cfg(test)]
mod tests;

pub use error::OutboundError;
pub use fetch::{Fetch, FetchError, MAX_REDIRECTS};
pub use policy::{AllowedRange, EgressPolicy, HostPort};
pub use refusal::Refusal;

use dns::{GuardedDns, SystemDns};
use policy::Route;

/// Idle connections kept for each host. Many endpoints may be on one, such as a customer's gateway; a connection that is not kept
/// costs a handshake for each request beyond.
const IDLE_PER_HOST: usize = 256;
/// Receivers commonly close idle connections after 60 s or more; staying below avoids writing into a closing one.
const IDLE_FOR: Duration = Duration::from_secs(30);

/// The guarded HTTP client. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct Outbound {
    policy: Arc<EgressPolicy>,
    exempt: Client,
    /// One client a port, because a resolver, where addresses are judged, learns the name but not the port.
    guarded: BTreeMap<u16, Client>,
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
    /// The first [`READ_ANSWER_BYTES`] of the body as they came over the wire; the rest is not read.
    pub body: Vec<u8>,
}

impl Outbound {
    /// A client that obeys `policy` and resolves names as the operating system does.
    pub fn new(policy: EgressPolicy) -> Self {
        Self::with_resolver(policy, Arc::new(SystemDns))
    }

    fn with_resolver(policy: EgressPolicy, resolver: Arc<dyn Resolve>) -> Self {
        let policy = Arc::new(policy);
        let tls = crate::tls::client_config();
        let guard = |port| {
            let (policy, inner) = (Arc::clone(&policy), Arc::clone(&resolver));
            let dns = GuardedDns {
                policy,
                port,
                inner,
            };
            (port, client(&tls, Arc::new(dns)))
        };
        let guarded = policy.open_ports().into_iter().map(guard).collect();
        // Shown as 0 from the start: a counter that first appears with its first refusal has no increase then.
        for reason in Refusal::ALL {
            blocked(reason).increment(0);
        }
        Self {
            guarded,
            exempt: client(&tls, resolver),
            policy,
        }
    }

    /// Judges all that a URL shows by itself; what is behind a name is judged when it is connected to.
    ///
    /// # Errors
    /// Why it would not be contacted.
    pub fn judge(&self, url: &Url) -> Result<(), Refusal> {
        self.policy.admit(url).map(|_| ())
    }

    /// Sends one request and reads the answer, whatever its status.
    pub async fn post(&self, post: Post<'_>) -> Result<Answer, OutboundError> {
        let answer = tokio::time::timeout(post.deadline, self.exchange(post))
            .await
            .unwrap_or(Err(OutboundError::Timeout));
        if let Err(OutboundError::Refused(reason)) = &answer {
            blocked(*reason).increment(1);
        }
        answer
    }

    async fn exchange(&self, post: Post<'_>) -> Result<Answer, OutboundError> {
        let url = Url::parse(post.url).map_err(|_| OutboundError::Refused(Refusal::Url))?;
        let client = self.client_for(&url).map_err(OutboundError::Refused)?;
        let response = client
            .post(url)
            .headers(post.headers)
            .body(post.body)
            .send()
            .await?;
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let body = read_at_most(READ_ANSWER_BYTES, response).await?;
        Ok(Answer {
            status,
            retry_after,
            body,
        })
    }

    fn client_for(&self, url: &Url) -> Result<&Client, Refusal> {
        match self.policy.admit(url)? {
            Route::Exempt => Ok(&self.exempt),
            Route::Guarded(port) => self.guarded.get(&port).ok_or(Refusal::Port),
        }
    }
}

fn retry_after(response: &Response) -> Option<String> {
    let value = response.headers().get(RETRY_AFTER)?;
    value.to_str().ok().map(str::to_owned)
}

fn blocked(reason: Refusal) -> metrics::Counter {
    metrics::counter!("gatehouse_egress_blocked_total", "reason" => reason.label())
}

fn client(tls: &ClientConfig, resolver: Arc<dyn Resolve>) -> Client {
    Client::builder()
        .tls_backend_preconfigured(tls.clone())
        .dns_resolver(resolver)
        .http1_only()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .pool_max_idle_per_host(IDLE_PER_HOST)
        .pool_idle_timeout(IDLE_FOR)
        .build()
        .expect("reqwest takes a TLS configuration of the rustls version that it is built with")
}

/// The first `limit` bytes of the body. Dropping the response closes a connection with bytes left to read.
async fn read_at_most(limit: usize, mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while body.len() < limit
        && let Some(chunk) = response.chunk().await?
    {
        let room = limit - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }
    Ok(body)
}
