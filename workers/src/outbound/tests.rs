//! Tests of the egress guard: attacks by URL and by DNS, and receivers that misbehave, all on real
//! sockets.

use std::{
    collections::{BTreeSet, HashMap},
    io,
    net::IpAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use uuid::Uuid;

use super::*;

mod attacks;
mod fetching;
mod hostile_receivers;
mod receiver;
mod redirects;
mod team_exemptions;
mod team_limits;

use receiver::Receiver;

/// The team in tests for which it does not matter.
const TEAM: TeamId = TeamId::from_uuid(Uuid::from_u128(1));
/// Another one.
const OTHER: TeamId = TeamId::from_uuid(Uuid::from_u128(2));

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A DNS with prepared answers: each lookup of a name takes its next answer, and the last one
/// stays.
struct ScriptedDns;

impl ScriptedDns {
    #[expect(clippy::new_ret_no_self, reason = "a resolver is a function")]
    fn new<const N: usize>(name: &str, answers: [&[&str]; N]) -> Arc<Resolver> {
        let parse = |answer: &[&str]| answer.iter().map(|ip| ip.parse().unwrap()).collect();
        Self::of([(name.to_owned(), answers.map(parse).into())])
    }

    fn of(script: impl IntoIterator<Item = (String, Vec<Vec<IpAddr>>)>) -> Arc<Resolver> {
        let last_first = |(name, answers): (_, Vec<_>)| (name, answers.into_iter().rev().collect());
        let script: HashMap<String, Vec<Vec<IpAddr>>> =
            script.into_iter().map(last_first).collect();
        let script = Mutex::new(script);
        Arc::new(move |name: &str| {
            let mut script = script.lock().unwrap();
            let answer = script
                .get_mut(name)
                .and_then(|answers| match answers.len() {
                    0 | 1 => answers.first().cloned(),
                    _ => answers.pop(),
                });
            answer.ok_or_else(|| io::Error::other("no such name"))
        })
    }
}

/// The default rules with `port` open, because otherwise most attacks would fail for their port.
fn open(port: u16) -> EgressPolicy {
    let mut policy = EgressPolicy::default();
    policy.ports.insert(port);
    policy
}

/// The rules with one loopback address opened on `port`, as a stand-in for a public address.
fn open_at(ip: &str, port: u16) -> EgressPolicy {
    let range = AllowedRange {
        net: ip.parse::<IpAddr>().unwrap().into(),
        ports: BTreeSet::from([port]),
        team: None,
    };
    EgressPolicy {
        ranges: vec![range],
        ..EgressPolicy::default()
    }
}

fn exempting(urls: &[&str]) -> EgressPolicy {
    let exempt = urls
        .iter()
        .map(|url| Exemption {
            target: HostPort::of(&url.parse().unwrap()).unwrap(),
            team: None,
        })
        .collect();
    EgressPolicy {
        exempt,
        ..EgressPolicy::default()
    }
}

/// A client that may contact exactly this receiver.
fn client_of(receiver: &Receiver) -> Outbound {
    client(exempting(&[&receiver.url()]))
}

fn client(policy: EgressPolicy) -> Outbound {
    Outbound::new(policy, Bounds::default())
}

fn client_asking(policy: EgressPolicy, dns: Arc<Resolver>) -> Outbound {
    Outbound::with_resolver(policy, Bounds::default(), dns)
}

async fn post(outbound: &Outbound, url: &str) -> Result<Answer, OutboundError> {
    post_within(outbound, url, PATIENCE).await
}

async fn post_within(
    outbound: &Outbound,
    url: &str,
    deadline: Duration,
) -> Result<Answer, OutboundError> {
    post_as(TEAM, outbound, url, deadline).await
}

async fn post_as(
    team: TeamId,
    outbound: &Outbound,
    url: &str,
    deadline: Duration,
) -> Result<Answer, OutboundError> {
    let socket = outbound.socket(team).await?;
    let post = Post {
        url,
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
        deadline,
    };
    outbound.post(socket, post).await
}

async fn fetch(outbound: &Outbound, url: &str) -> Result<Vec<u8>, FetchError> {
    fetch_within(outbound, url, PATIENCE).await
}

async fn fetch_within(
    outbound: &Outbound,
    url: &str,
    deadline: Duration,
) -> Result<Vec<u8>, FetchError> {
    fetch_as(TEAM, outbound, url, deadline).await
}

async fn fetch_as(
    team: TeamId,
    outbound: &Outbound,
    url: &str,
    deadline: Duration,
) -> Result<Vec<u8>, FetchError> {
    let socket = outbound.socket(team).await.map_err(OutboundError::from)?;
    let file = Fetch {
        url,
        accept: "image/*",
        limit: LIMIT,
        deadline,
    };
    outbound.fetch(socket, file).await
}

/// The most bytes of a file.
const LIMIT: usize = 100_000;

/// The kind of request.
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
