//! Addresses beyond the public internet that the operator opens for webhooks and images by URL.

use std::{collections::BTreeSet, fmt::Write as _, str::FromStr};

use anyhow::Context as _;
use clap::Args;
use domain::{id::TeamId, webhook::EndpointUrl};
use url::Url;
use uuid::Uuid;
use workers::outbound::{AllowedRange, Bounds, EgressPolicy, Exemption, HostPort, Refusal};

use super::whole;

/// The egress guard's exceptions.
#[derive(Debug, Args)]
pub(crate) struct EgressOptions {
    /// Addresses that are not public and that webhooks and images by URL may reach: host:port, or a network with or without
    /// a port (10.1.0.0/16, 10.1.0.0/16:9000). Put a team's id and `=` before it to open it for this team only
    /// (018f3f3e-...=10.1.0.0/16:9000). Separate several with commas
    #[arg(long, env = "GATEHOUSE_EGRESS_ALLOW", value_delimiter = ',')]
    pub(crate) egress_allow: Vec<Allowed>,
}

/// How many connections are opened on behalf of tenants.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct OutboundOptions {
    /// Connections to webhook receivers and image servers in use at once. A team may use at most as many as remain free
    /// [default: 32 times --concurrency]
    #[arg(id = "outbound_connections", long = "outbound-connections", env = "GATEHOUSE_OUTBOUND_CONNECTIONS", value_parser = whole(8..=100_000_u32))]
    connections: Option<u32>,
    /// Idle connections kept for the next webhook. When the limit is reached, the team with the most loses one
    #[arg(id = "outbound_idle", long = "outbound-idle", env = "GATEHOUSE_OUTBOUND_IDLE", default_value_t = 512, value_parser = whole(0..=100_000_u32))]
    idle: u32,
    /// DNS lookups of receivers and servers that run at once. A team may use at most as many as remain free
    #[arg(id = "outbound_lookups", long = "outbound-lookups", env = "GATEHOUSE_OUTBOUND_LOOKUPS", default_value_t = 32, value_parser = whole(2..=256_u32))]
    lookups: u32,
}

/// A delivery that waits for a slow receiver needs only a connection. One team alone can have half
/// of them.
const FOR_EACH_JOB: usize = 32;

impl OutboundOptions {
    /// The bounds of a process that runs this many jobs of a queue at once.
    pub(crate) fn bounds(self, concurrency: usize) -> Bounds {
        Bounds {
            connections: self
                .connections
                .map_or(FOR_EACH_JOB * concurrency, |connections| {
                    connections as usize
                })
                .max(8),
            idle: self.idle as usize,
            lookups: self.lookups as usize,
        }
    }
}

impl EgressOptions {
    /// The rules, with `exempt` added.
    pub(crate) fn policy(&self, exempt: impl IntoIterator<Item = Exemption>) -> EgressPolicy {
        let mut policy = EgressPolicy::default();
        for Allowed { team, to } in &self.egress_allow {
            let team = *team;
            match to {
                Opened::Host(target) => {
                    let target = target.clone();
                    policy.exempt.push(Exemption { target, team });
                }
                Opened::Network { net, port } => {
                    let ports =
                        port.map_or_else(|| policy.ports.clone(), |port| BTreeSet::from([port]));
                    let net = *net;
                    policy.ranges.push(AllowedRange { net, ports, team });
                }
            }
        }
        policy.exempt.extend(exempt);
        policy
    }
}

/// An endpoint for the demo site. Its host and port are exempt from the egress guard; all other
/// rules apply to it.
pub(crate) fn demo_endpoint(text: &str) -> Result<Url, String> {
    let url: EndpointUrl = text.parse().map_err(|error| format!("{error}"))?;
    let exempt = HostPort::of(url.url()).map(|target| Exemption { target, team: None });
    let policy = EgressPolicy {
        exempt: exempt.into_iter().collect(),
        ..EgressPolicy::default()
    };
    let team = TeamId::from_uuid(Uuid::nil());
    check_url(&policy, team, url.url())?;
    Ok(url.into())
}

/// One exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// For this team only. `None`: for all teams.
    team: Option<TeamId>,
    to: Opened,
}

/// What is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Opened {
    Host(HostPort),
    Network {
        net: ipnet::IpNet,
        port: Option<u16>,
    },
}

impl FromStr for Allowed {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let Some((team, to)) = text.split_once('=') else {
            let to = text.parse()?;
            return Ok(Self { team: None, to });
        };
        let team = team.parse().with_context(|| {
            format!("{team:?} before the = in {text:?} is not the id of a team")
        })?;
        Ok(Self {
            team: Some(team),
            to: to.parse()?,
        })
    }
}

impl FromStr for Opened {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let wrong = || {
            format!(
                "{text:?} is neither host:port nor a network such as 10.1.0.0/16 or 10.1.0.0/16:9000"
            )
        };
        if let Ok(net) = text.parse() {
            return Ok(Self::Network { net, port: None });
        }
        if let Some((net, port)) = text.rsplit_once(':').filter(|(net, _)| net.contains('/')) {
            let net = net.parse().with_context(wrong)?;
            return Ok(Self::Network {
                net,
                port: Some(port.parse().with_context(wrong)?),
            });
        }
        text.rsplit_once(':')
            .and_then(|(_, port)| port.parse::<u16>().ok())
            .with_context(wrong)?;
        let url: Url = format!("http://{text}/").parse().with_context(wrong)?;
        HostPort::of(&url).map(Self::Host).with_context(wrong)
    }
}

/// Checks a URL that a team named, by its text.
///
/// # Errors
/// Why it would not be contacted, and everything that can be done about it.
pub(crate) fn check_url(policy: &EgressPolicy, team: TeamId, url: &Url) -> Result<(), String> {
    let judged = policy.judge_url(team, url);
    judged.map_err(|refusal| format!("{refusal}: {}", advice(refusal, team, url)))
}

fn advice(refusal: Refusal, team: TeamId, url: &Url) -> String {
    let mut advice = refusal.advice().to_owned();
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
        return advice;
    };
    let is_local = refusal == Refusal::Loopback
        || refusal == Refusal::Name && host.trim_end_matches('.').ends_with("localhost");
    let can_be_opened = match refusal {
        // Metadata addresses reveal a machine's credentials, and multicast addresses lead to no
        // single server.
        Refusal::Url
        | Refusal::Scheme
        | Refusal::UserInfo
        | Refusal::Metadata
        | Refusal::Multicast => false,
        Refusal::Name => is_local,
        Refusal::Port
        | Refusal::Loopback
        | Refusal::Private
        | Refusal::LinkLocal
        | Refusal::Translated
        | Refusal::Reserved => true,
    };
    if !can_be_opened {
        return advice;
    }
    let _ = write!(
        advice,
        ", or ask the operator to open it with `--egress-allow {team}={host}:{port}` (GATEHOUSE_EGRESS_ALLOW)"
    );
    if is_local && url.scheme() == "http" {
        let _ = write!(
            advice,
            ". To try webhooks on your own machine, run `gatehouse up --webhook-url http://127.0.0.1:9000/` and `gatehouse \
             listen --forward {url}`"
        );
    }
    advice
}

#[cfg(test)]
mod tests;
