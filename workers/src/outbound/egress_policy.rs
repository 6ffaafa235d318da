//! Where Gatehouse may connect to for tenants by default, and what the operator opened in addition,
//! for all teams or for one.

use std::{collections::BTreeSet, net::IpAddr};

use domain::id::TeamId;
use ipnet::IpNet;
use url::{Host, Url};

use super::{Refusal, reserved_addresses};

/// The egress rules. By default every public address on ports 80, 443, 8080 and 8443, and nothing else.
#[derive(Debug, Clone)]
pub struct EgressPolicy {
    /// The ports that are open on public addresses.
    pub ports: BTreeSet<u16>,
    /// Networks that the operator opened, public or not.
    pub ranges: Vec<AllowedRange>,
    /// Hosts that are contacted without a check.
    pub exempt: Vec<Exemption>,
}

/// A network that the operator opened on some ports, and on no others. Metadata addresses inside it
/// stay closed. They can only be exempted one by one.
#[derive(Debug, Clone)]
pub struct AllowedRange {
    /// The addresses.
    pub net: IpNet,
    /// The ports that are open there.
    pub ports: BTreeSet<u16>,
    /// The only team that may connect there. None opens it for all teams.
    pub team: Option<TeamId>,
}

/// Exactly this host on exactly this port is contacted without a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemption {
    /// The host and port.
    pub target: HostPort,
    /// The only team that may connect there. None opens it for all teams.
    pub team: Option<TeamId>,
}

/// A host as a normalised URL spells it, with its port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct HostPort {
    host: Host<String>,
    port: u16,
}

/// How a permitted URL is contacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Route {
    /// The operator exempted exactly this host and port.
    Exempt,
    /// The addresses are checked.
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
    /// Checks everything about a URL of this team except the addresses behind its name.
    ///
    /// URL parsing has normalised the spellings of a host before: decimal, octal and hexadecimal
    /// numbers, short forms, percent-encoding, full-width digits and upper case.
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

    /// Checks a URL when a user of this team enters it. The addresses behind its name are checked
    /// at each connection.
    ///
    /// If both host and port are forbidden, the reason names the host, because the URL would be
    /// refused with any port.
    ///
    /// # Errors
    /// The reason why it would be refused.
    pub fn judge_url(&self, team: TeamId, url: &Url) -> Result<(), Refusal> {
        match self.admit(team, url) {
            Ok(_) => Ok(()),
            Err(Refusal::Port) => Err(forbidden_host(url).unwrap_or(Refusal::Port)),
            Err(refusal) => Err(refusal),
        }
    }

    /// Checks an address before this team connects to it on `port`.
    pub(super) fn judge(&self, team: TeamId, ip: IpAddr, port: u16) -> Result<(), Refusal> {
        if reserved_addresses::is_metadata(ip) {
            return Err(Refusal::Metadata);
        }
        if self.ranges_of(team, port).any(|net| net.contains(&ip)) {
            return Ok(());
        }
        match reserved_addresses::classify(ip) {
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

/// Whether something that was opened for `only` (none: for all teams) is open to `team`.
fn serves(only: Option<TeamId>, team: TeamId) -> bool {
    only.is_none_or(|only| only == team)
}

/// Why this host is refused on every port.
fn forbidden_host(url: &Url) -> Option<Refusal> {
    match url.host()? {
        Host::Ipv4(ip) => reserved_addresses::classify(ip.into()),
        Host::Ipv6(ip) => reserved_addresses::classify(ip.into()),
        Host::Domain(name) => judge_name(name).err(),
    }
}

/// Refuses names that are forbidden whatever they resolve to. All others are checked by their
/// addresses.
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
