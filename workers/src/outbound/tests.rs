//! The egress suite: attacks by URL and by DNS, and receivers that misbehave, all on real sockets.

use std::{
    collections::{BTreeSet, HashMap},
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::*;

mod attacks;
mod fetching;
mod receiver;
mod receivers;
mod redirects;

use receiver::Receiver;

/// A DNS whose answers are written down: each question for a name takes its next answer, and the last one stays.
struct ScriptedDns(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl ScriptedDns {
    fn new<const N: usize>(name: &str, answers: [&[&str]; N]) -> Arc<Self> {
        let parse = |answer: &[&str]| answer.iter().map(|ip| ip.parse().unwrap()).collect();
        Self::of([(name.to_owned(), answers.map(parse).into())])
    }

    fn of(script: impl IntoIterator<Item = (String, Vec<Vec<IpAddr>>)>) -> Arc<Self> {
        let last_first = |(name, answers): (_, Vec<_>)| (name, answers.into_iter().rev().collect());
        Arc::new(Self(Mutex::new(
            script.into_iter().map(last_first).collect(),
        )))
    }
}

impl Resolve for ScriptedDns {
    fn resolve(&self, name: Name) -> Resolving {
        let mut script = self.0.lock().unwrap();
        let answer = script
            .get_mut(name.as_str())
            .and_then(|answers| match answers.len() {
                0 | 1 => answers.first().cloned(),
                _ => answers.pop(),
            });
        Box::pin(async move {
            let ips = answer.ok_or("no such name")?;
            Ok(Box::new(ips.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs)
        })
    }
}

/// The default rules, with `port` open too: otherwise most attacks would already fail for their port.
fn open(port: u16) -> EgressPolicy {
    let mut policy = EgressPolicy::default();
    policy.ports.insert(port);
    policy
}

/// The rules with one loopback address opened on `port`, to stand for a public one.
fn open_at(ip: &str, port: u16) -> EgressPolicy {
    let range = AllowedRange {
        net: ip.parse::<IpAddr>().unwrap().into(),
        ports: BTreeSet::from([port]),
    };
    EgressPolicy {
        ranges: vec![range],
        ..EgressPolicy::default()
    }
}

fn exempting(urls: &[&str]) -> EgressPolicy {
    let exempt = urls
        .iter()
        .map(|url| HostPort::of(&url.parse().unwrap()).unwrap())
        .collect();
    EgressPolicy {
        exempt,
        ..EgressPolicy::default()
    }
}

/// A client that may contact exactly this receiver.
fn client_of(receiver: &Receiver) -> Outbound {
    Outbound::new(exempting(&[&receiver.url()]))
}

async fn post(outbound: &Outbound, url: &str) -> Result<Answer, OutboundError> {
    post_within(outbound, url, Duration::from_secs(5)).await
}

async fn post_within(
    outbound: &Outbound,
    url: &str,
    deadline: Duration,
) -> Result<Answer, OutboundError> {
    let body = Bytes::from_static(b"{}");
    outbound
        .post(Post {
            url,
            headers: HeaderMap::new(),
            body,
            deadline,
        })
        .await
}

async fn fetch(outbound: &Outbound, url: &str) -> Result<Vec<u8>, FetchError> {
    fetch_within(outbound, url, Duration::from_secs(5)).await
}

async fn fetch_within(
    outbound: &Outbound,
    url: &str,
    deadline: Duration,
) -> Result<Vec<u8>, FetchError> {
    outbound
        .fetch(Fetch {
            url,
            accept: "image/*",
            limit: LIMIT,
            deadline,
        })
        .await
}

/// Bytes of a file at most.
const LIMIT: usize = 100_000;

/// What is asked of a receiver.
#[derive(Clone, Copy, Debug)]
enum Ask {
    Post,
    Fetch,
}

impl Ask {
    const ALL: [Self; 2] = [Self::Post, Self::Fetch];

    /// The status of the answer.
    async fn of(self, outbound: &Outbound, url: &str) -> Result<u16, OutboundError> {
        match self {
            Self::Post => Ok(post(outbound, url).await?.status),
            Self::Fetch => match fetch(outbound, url).await {
                Ok(_) => Ok(200),
                Err(FetchError::Status { status, .. }) => Ok(status),
                Err(FetchError::Outbound(error)) => Err(error),
                Err(error) => panic!("neither an answer nor none: {error:?}"),
            },
        }
    }
}

fn refusal<T: std::fmt::Debug>(answer: Result<T, OutboundError>) -> Refusal {
    match answer {
        Err(OutboundError::Refused(refusal)) => refusal,
        other => panic!("not refused: {other:?}"),
    }
}
