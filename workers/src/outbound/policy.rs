//! Where tenants may make Gatehouse connect to, and what the operator opened beyond that.

use std::{collections::BTreeSet, net::IpAddr};

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
    /// What is contacted without being judged: exactly these hosts on exactly these ports.
    pub exempt: BTreeSet<HostPort>,
}

/// A network that the operator opened on some ports, and on no others. Metadata addresses inside it stay closed: they
/// can only be exempted one by one.
#[derive(Debug, Clone)]
pub struct AllowedRange {
    /// The addresses.
    pub net: IpNet,
    /// The ports that are open there.
    pub ports: BTreeSet<u16>,
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
    /// Through the guard of this port.
    Guarded(u16),
}

impl Default for EgressPolicy {
    fn default() -> Self {
        Self {
            ports: BTreeSet::from([80, 443, 8080, 8443]),
            ranges: Vec::new(),
            exempt: BTreeSet::new(),
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
    /// Every port that is open anywhere.
    pub(super) fn open_ports(&self) -> BTreeSet<u16> {
        self.ranges
            .iter()
            .flat_map(|range| &range.ports)
            .chain(&self.ports)
            .copied()
            .collect()
    }

    /// Judges all that a URL shows by itself: everything but the addresses behind a name.
    ///
    /// URL parsing has by then unified the spellings of a host: decimal, octal and hexadecimal numbers, short forms,
    /// percent-encoding, full-width digits and upper case.
    pub(super) fn admit(&self, url: &Url) -> Result<Route, Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::UserInfo);
        }
        let target = HostPort::of(url).ok_or(Refusal::Url)?;
        if self.exempt.contains(&target) {
            return Ok(Route::Exempt);
        }
        let HostPort { host, port } = target;
        if !self.open_ports().contains(&port) {
            return Err(Refusal::Port);
        }
        match host {
            Host::Ipv4(ip) => self.judge(ip.into(), port)?,
            Host::Ipv6(ip) => self.judge(ip.into(), port)?,
            Host::Domain(name) => judge_name(&name)?,
        }
        Ok(Route::Guarded(port))
    }

    /// Judges an address that is about to be connected to on `port`.
    pub(super) fn judge(&self, ip: IpAddr, port: u16) -> Result<(), Refusal> {
        if address::is_metadata(ip) {
            return Err(Refusal::Metadata);
        }
        if self
            .ranges
            .iter()
            .any(|range| range.net.contains(&ip) && range.ports.contains(&port))
        {
            return Ok(());
        }
        match address::classify(ip) {
            Some(refusal) => Err(refusal),
            None if self.ports.contains(&port) => Ok(()),
            None => Err(Refusal::Port),
        }
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
