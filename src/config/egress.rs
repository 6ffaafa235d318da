//! What the operator opens for webhooks and images by URL beyond the public internet.

use std::{collections::BTreeSet, fmt::Write as _, str::FromStr};

use anyhow::Context as _;
use clap::Args;
use domain::id::TeamId;
use url::Url;
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

/// How much is opened on behalf of tenants.
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

/// Deliveries that wait for slow receivers need nothing but a connection each. One team alone may have a half of them.
const FOR_EACH_JOB: usize = 32;

impl OutboundOptions {
    /// The bounds of a process that works on so many jobs of a queue at once.
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

/// One exception.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Allowed {
    /// For this team only; none: for all teams.
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

/// Judges a URL that a team named, by all that it shows by itself.
///
/// # Errors
/// Why it would not be contacted, and everything that can be done about it.
pub(crate) fn judge(policy: &EgressPolicy, team: TeamId, url: &Url) -> Result<(), String> {
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
        // The last two give away a machine's credentials, or lead to nobody in particular.
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
mod tests {
    use super::*;

    #[test]
    fn one_message_says_all_that_can_be_done_and_what_it_advises_helps() {
        const TEAM: &str = "018f3f3e-0000-7000-8000-000000000001";
        let team: TeamId = TEAM.parse().unwrap();
        let policy = EgressPolicy::default();
        let told = |url: &str| judge(&policy, team, &url.parse().unwrap()).unwrap_err();
        for url in [
            "http://localhost:3000/hooks",
            "http://127.0.0.1/",
            "http://[::1]:3000/hooks?a=b",
            "http://10.1.0.7:9000/",
            "https://hooks.example.com:3000/",
        ] {
            let told = told(url);
            let (_, advised) = told.split_once("--egress-allow ").unwrap();
            let (allowed, _) = advised.split_once('`').unwrap();
            let options = EgressOptions {
                egress_allow: vec![allowed.parse().unwrap()],
            };
            let opened = options.policy(None);
            assert_eq!(
                opened.judge_url(team, &url.parse().unwrap()),
                Ok(()),
                "{told}"
            );
        }
        let local = told("http://localhost:3000/hooks");
        assert!(
            local.contains("not permitted: use a public one, or ask the operator")
                && local.contains("`gatehouse listen --forward http://localhost:3000/hooks`"),
            "{local}"
        );
        for url in [
            "http://10.1.0.7/",
            "https://localhost/",
            "https://example.com:25/",
        ] {
            assert!(!told(url).contains("listen"), "{url}");
        }
        // Whoever reads this should not be led to open what gives away a machine's credentials.
        for url in [
            "http://169.254.169.254/",
            "http://metadata.google.internal/",
            "ftp://localhost/",
            "http://a:b@localhost/",
        ] {
            assert!(!told(url).contains("--egress-allow"), "{url}");
        }
    }

    fn opened(text: &str) -> anyhow::Result<Opened> {
        Ok(text.parse::<Allowed>()?.to)
    }

    #[test]
    fn hosts_and_networks_are_told_apart() {
        assert!(matches!(opened("localhost:9000"), Ok(Opened::Host(_))));
        assert!(matches!(opened("[::1]:9000"), Ok(Opened::Host(_))));
        assert!(matches!(
            opened("10.0.0.0/8"),
            Ok(Opened::Network { port: None, .. })
        ));
        assert!(matches!(
            opened("fd00::/8:9000"),
            Ok(Opened::Network {
                port: Some(9000),
                ..
            })
        ));
        for wrong in ["localhost", "10.0.0.0/99", "10.0.0.0/8:x", ""] {
            assert!(opened(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn case_44_an_exception_may_be_for_one_team() {
        const TEAM: &str = "018f3f3e-0000-7000-8000-000000000001";
        let team: TeamId = TEAM.parse().unwrap();
        for to in [
            "hooks.internal:9000",
            "[::1]:9000",
            "10.0.0.0/8",
            "fd00::/8:9000",
        ] {
            let for_one: Allowed = format!("{TEAM}={to}").parse().unwrap();
            let for_all: Allowed = to.parse().unwrap();
            assert_eq!((for_one.team, for_all.team), (Some(team), None));
            assert_eq!(for_one.to, for_all.to);
            let options = EgressOptions {
                egress_allow: vec![for_one],
            };
            let policy = options.policy(None);
            let ranges = policy.ranges.iter().map(|range| range.team);
            let exempt = policy.exempt.iter().map(|exemption| exemption.team);
            assert_eq!(ranges.chain(exempt).collect::<Vec<_>>(), [Some(team)]);
        }
        for wrong in ["=10.0.0.0/8", "demo=localhost:9000", "=", TEAM] {
            assert!(wrong.parse::<Allowed>().is_err(), "{wrong:?}");
        }
        let told = format!(
            "{:#}",
            "demo=localhost:9000".parse::<Allowed>().unwrap_err()
        );
        assert!(told.contains("not the id of a team"), "{told}");
    }
}
