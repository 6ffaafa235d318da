//! What the operator opens for webhooks and images by URL beyond the public internet.

use std::{collections::BTreeSet, str::FromStr};

use anyhow::Context as _;
use clap::Args;
use url::Url;
use workers::outbound::{AllowedRange, EgressPolicy, HostPort};

/// The egress guard's exceptions.
#[derive(Debug, Args)]
pub(crate) struct EgressOptions {
    /// What webhooks and images by URL may reach although it is not public: host:port, or a network with or without
    /// ports (10.1.0.0/16, 10.1.0.0/16:9000). Separate several by commas
    #[arg(long, env = "GATEHOUSE_EGRESS_ALLOW", value_delimiter = ',')]
    pub(crate) egress_allow: Vec<Allowed>,
}

/// One exception.
#[derive(Clone, Debug)]
pub(crate) enum Allowed {
    Host(HostPort),
    Network {
        net: ipnet::IpNet,
        port: Option<u16>,
    },
}

impl FromStr for Allowed {
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
    pub(crate) fn policy(&self, exempt: impl IntoIterator<Item = HostPort>) -> EgressPolicy {
        let mut policy = EgressPolicy::default();
        for allowed in &self.egress_allow {
            match allowed {
                Allowed::Host(host) => {
                    policy.exempt.insert(host.clone());
                }
                Allowed::Network { net, port } => {
                    let ports =
                        port.map_or_else(|| policy.ports.clone(), |port| BTreeSet::from([port]));
                    policy.ranges.push(AllowedRange { net: *net, ports });
                }
            }
        }
        policy.exempt.extend(exempt);
        policy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_networks_are_told_apart() {
        assert!(matches!("localhost:9000".parse(), Ok(Allowed::Host(_))));
        assert!(matches!("[::1]:9000".parse(), Ok(Allowed::Host(_))));
        assert!(matches!(
            "10.0.0.0/8".parse(),
            Ok(Allowed::Network { port: None, .. })
        ));
        assert!(matches!(
            "fd00::/8:9000".parse(),
            Ok(Allowed::Network {
                port: Some(9000),
                ..
            })
        ));
        for wrong in ["localhost", "10.0.0.0/99", "10.0.0.0/8:x", ""] {
            assert!(wrong.parse::<Allowed>().is_err(), "{wrong:?}");
        }
    }
}
