//! Addresses beyond the public internet that the operator opens for webhooks and images by URL.

mod demo_endpoint;
mod exception;
#[cfg(test)]
mod tests;
mod url_check;

use std::collections::BTreeSet;

use clap::Args;
use workers::outbound::{AllowedRange, Bounds, EgressPolicy, Exemption};

use super::whole;
use exception::Opened;

pub(super) use demo_endpoint::demo_endpoint;
pub(crate) use exception::Allowed;
pub(crate) use url_check::check_url;

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
