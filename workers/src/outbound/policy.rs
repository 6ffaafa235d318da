//! Where tenants may make Gatehouse connect to, and what the operator opened beyond that, for all teams or for one.

use std::{collections::BTreeSet, net::IpAddr};

use domain::id::TeamId;
use ipnet::IpNet;
use url::{Host, Url};

use super::{Refusal, address};

/// The egress rules. By default every public address on ports 80, 443, 8080 and 8443, and nothing else.
#[derive(Debug, Clone)]
pub struct EgressPolicy {
    /// The ports that are open on public addresses.
    pub ports: BTreeSet<u16>,
    /// Networks that the operator opened, public or not.
    pub ranges: Vec<AllowedRange>,
    /// What is contacted without being judged.
    pub exempt: Vec<Exemption>,
}

/// A network that the operator opened on some ports, and on no others. Metadata addresses inside it stay closed: they
/// can only be exempted one by one.
#[derive(Debug, Clone)]
pub struct AllowedRange {
    /// The addresses.
    pub net: IpNet,
    /// The ports that are open there.
    pub ports: BTreeSet<u16>,
    /// The only team that may go there; none: all teams may.
    pub team: Option<TeamId>,
}

/// Exactly this host on exactly this port is contacted without being judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemption {
    /// The host and port.
    pub target: HostPort,
    /// The only team that may go there; none: all teams may.
    pub team: Option<TeamId>,
}

/// A host as a URL spells it after normalisation, with its port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPort {
    host: Host<String>,
    port: u16,
}

/// How an admitted URL is to be contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The operator exempted exactly this host and port.
    Exempt,
    /// To addresses that are judged.
    Guarded,
}

impl Default for EgressPolicy {
    fn default() -> Self {
        Self {
            ports: BTreeSet::from([80, 443, 8080, 8443]),
            ranges: Vec::new(),
            exempt: Vec::new(),
        }
    }
}

impl HostPort {
    /// The host and port that this URL leads to, or `None` when it has none (`mailto:`).
    pub fn of(url: &Url) -> Option<Self> {
        Some(Self {
            host: url.host()?.to_owned(),
            port: url.port_or_known_default()?,
        })
    }
}

impl EgressPolicy {
    /// Judges all that a URL of this team shows by itself: everything but the addresses behind a name.
    ///
    /// URL parsing has by then unified the spellings of a host: decimal, octal and hexadecimal numbers, short forms,
    /// percent-encoding, full-width digits and upper case.
    pub(super) fn admit(&self, team: TeamId, url: &Url) -> Result<Route, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        let target = HostPort::of(url).ok_or(Refusal::Url)?;
        let is_exempt =
            |exemption: &Exemption| exemption.target == target && serves(exemption.team, team);
        if self.exempt.iter().any(is_exempt) {
            return Ok(Route::Exempt);
        }
        let HostPort { host, port } = target;
        if !self.ports.contains(&port) && !self.ranges_of(team, port).any(|_| true) {
            return Err(Refusal::Port);
        }
        match host {
            Host::Ipv4(ip) => self.judge(team, ip.into(), port)?,
            Host::Ipv6(ip) => self.judge(team, ip.into(), port)?,
            Host::Domain(name) => judge_name(&name)?,
        }
        Ok(Route::Guarded)
    }

    /// Judges a URL of this team for whoever named it. What is behind its name is judged when it is connected to.
    ///
    /// If host and port are both forbidden, the host is told: with another port the URL would be refused again.
    ///
    /// # Errors
    /// Why it would not be contacted.
    pub fn judge_url(&self, team: TeamId, url: &Url) -> Result<(), Refusal> {
        match self.admit(team, url) {
            Ok(_) => Ok(()),
            Err(Refusal::Port) => Err(forbidden_host(url).unwrap_or(Refusal::Port)),
            Err(refusal) => Err(refusal),
        }
    }

    /// Judges an address to which this team is about to connect on `port`.
    pub(super) fn judge(&self, team: TeamId, ip: IpAddr, port: u16) -> Result<(), Refusal> {
        if address::is_metadata(ip) {
            return Err(Refusal::Metadata);
        }
        if self.ranges_of(team, port).any(|net| net.contains(&ip)) {
            return Ok(());
        }
        match address::classify(ip) {
            Some(refusal) => Err(refusal),
            None if self.ports.contains(&port) => Ok(()),
            None => Err(Refusal::Port),
        }
    }

    /// The networks that are open to this team on this port.
    fn ranges_of(&self, team: TeamId, port: u16) -> impl Iterator<Item = &IpNet> {
        self.ranges
            .iter()
            .filter(move |range| serves(range.team, team) && range.ports.contains(&port))
            .map(|range| &range.net)
    }
}

/// Whether what was opened for `only` (none: for all teams) is open to `team`.
fn serves(only: Option<TeamId>, team: TeamId) -> bool {
    only.is_none_or(|only| only == team)
}

/// Why this host is not contacted on any port.
fn forbidden_host(url: &Url) -> Option<Refusal> {
    match url.host()? {
        Host::Ipv4(ip) => address::classify(ip.into()),
        Host::Ipv6(ip) => address::classify(ip.into()),
        Host::Domain(name) => judge_name(name).err(),
    }
}

/// Names that are refused whatever they resolve to. All others are judged by their addresses.
fn judge_name(name: &str) -> Result<(), Refusal> {
    const METADATA: [&str; 4] = [
        "metadata",
        "metadata.google.internal",
        "instance-data",
        "instance-data.ec2.internal",
    ];
    let name = name.trim_end_matches('.');
    if name == "localhost" || name.ends_with(".localhost") || METADATA.contains(&name) {
        return Err(Refusal::Name);
    }
    Ok(())
}
