//! Where Gatehouse may connect to for tenants by default, and what the operator opened in addition,
//! for all teams or for one.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use domain::id::TeamId;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::{Host, Url};

use super::Refusal;

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
        if is_metadata(ip) {
            return Err(Refusal::Metadata);
        }
        if self.ranges_of(team, port).any(|net| net.contains(&ip)) {
            return Ok(());
        }
        match classify(ip) {
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
        Host::Ipv4(ip) => classify(ip.into()),
        Host::Ipv6(ip) => classify(ip.into()),
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

/// Why this address is not part of the public internet, by the IANA special-purpose registries (RFC 6890 and its
/// successors); `None` when it is.
fn classify(ip: IpAddr) -> Option<Refusal> {
    if is_metadata(ip) {
        return Some(Refusal::Metadata);
    }
    match ip {
        IpAddr::V4(ip) => classify_v4(ip),
        IpAddr::V6(ip) => classify_v6(ip),
    }
}

/// Whether this is the address of a cloud's metadata service, which hands out credentials.
/// IPv4-mapped forms count, too.
fn is_metadata(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => METADATA_V4.contains(&ip),
        IpAddr::V6(ip) => METADATA_V6.contains(&ip),
    }
}

fn classify_v4(ip: Ipv4Addr) -> Option<Refusal> {
    SPECIAL_V4
        .iter()
        .find(|(net, _)| net.contains(&ip))
        .map(|(_, refusal)| *refusal)
}

fn classify_v6(ip: Ipv6Addr) -> Option<Refusal> {
    if let Some((_, refusal)) = SPECIAL_V6.iter().find(|(net, _)| net.contains(&ip)) {
        return Some(*refusal);
    }
    if !GLOBAL_UNICAST.contains(&ip) {
        return Some(Refusal::Reserved);
    }
    is_isatap(ip).then_some(Refusal::Translated)
}

/// RFC 5214: an interface identifier of `0:5efe` or `200:5efe` before an IPv4 address, under any prefix.
fn is_isatap(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    matches!(segments[4], 0 | 0x200) && segments[5] == 0x5efe
}

const METADATA_V4: [Ipv4Addr; 10] = [
    Ipv4Addr::new(169, 254, 169, 254), // AWS, Google, Azure, Oracle, DigitalOcean, Hetzner, OpenStack
    Ipv4Addr::new(169, 254, 169, 252), // Google Kubernetes Engine, behind the address above
    Ipv4Addr::new(169, 254, 170, 2),   // AWS ECS task credentials
    Ipv4Addr::new(169, 254, 170, 23),  // AWS EKS Pod Identity
    Ipv4Addr::new(169, 254, 0, 23),    // Tencent
    Ipv4Addr::new(169, 254, 42, 42),   // Scaleway
    Ipv4Addr::new(100, 96, 0, 96),     // Volcengine
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba
    Ipv4Addr::new(192, 0, 0, 192),     // Oracle, classic
    Ipv4Addr::new(168, 63, 129, 16),   // Azure's wire server, a public address by number
];

const METADATA_V6: [Ipv6Addr; 7] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), // AWS
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),  // AWS EKS Pod Identity
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),  // Google
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), // Oracle
    Ipv6Addr::new(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1), // Akamai (Linode)
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),   // Scaleway
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe), // OpenStack, Hetzner
];

const SPECIAL_V4: [(Ipv4Net, Refusal); 19] = [
    (v4([0, 0, 0, 0], 8), Refusal::Loopback), // "this network": connecting to it reaches the machine itself
    (v4([10, 0, 0, 0], 8), Refusal::Private),
    (v4([100, 64, 0, 0], 10), Refusal::Private), // carrier-grade NAT
    (v4([127, 0, 0, 0], 8), Refusal::Loopback),
    (v4([169, 254, 0, 0], 16), Refusal::LinkLocal),
    (v4([172, 16, 0, 0], 12), Refusal::Private),
    (v4([192, 0, 0, 0], 24), Refusal::Reserved), // protocol assignments
    (v4([192, 0, 2, 0], 24), Refusal::Reserved), // documentation
    (v4([192, 31, 196, 0], 24), Refusal::Reserved), // AS112
    (v4([192, 52, 193, 0], 24), Refusal::Reserved), // AMT relays
    (v4([192, 88, 99, 0], 24), Refusal::Translated), // 6to4 relays
    (v4([192, 168, 0, 0], 16), Refusal::Private),
    (v4([192, 175, 48, 0], 24), Refusal::Reserved), // AS112
    (v4([198, 18, 0, 0], 15), Refusal::Reserved),   // benchmarking
    (v4([198, 51, 100, 0], 24), Refusal::Reserved), // documentation
    (v4([203, 0, 113, 0], 24), Refusal::Reserved),  // documentation
    (v4([224, 0, 0, 0], 4), Refusal::Multicast),
    (v4([255, 255, 255, 255], 32), Refusal::Multicast), // broadcast
    (v4([240, 0, 0, 0], 4), Refusal::Reserved),
];

/// The only IPv6 range assigned for global unicast. Everything outside of it is special.
const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// The first match counts, so narrow ranges come before the wide ones that contain them.
const SPECIAL_V6: [(Ipv6Net, Refusal); 18] = [
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 128), Refusal::Loopback), // "any": connecting to it reaches the machine itself
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), Refusal::Loopback),
    (v6([0, 0, 0, 0, 0, 0, 0, 0], 96), Refusal::Translated), // IPv4-compatible
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), Refusal::Translated), // IPv4-mapped
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), Refusal::Translated), // IPv4-translated (SIIT)
    (
        v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96),
        Refusal::Translated,
    ), // NAT64
    (
        v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48),
        Refusal::Translated,
    ), // NAT64, local use
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), Refusal::Translated), // Teredo
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), Refusal::Translated), // 6to4
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), Refusal::Reserved), // protocol assignments, benchmarking, ORCHID
    (v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), Refusal::Reserved), // documentation
    (
        v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48),
        Refusal::Reserved,
    ), // AS112
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), Refusal::Reserved), // documentation
    (v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16), Refusal::Reserved), // the returned 6bone
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), Refusal::Private),   // unique local
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), Refusal::LinkLocal),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), Refusal::Private), // site-local
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), Refusal::Multicast),
];

const fn v4(network: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::from_octets(network), prefix)
}

const fn v6(network: [u16; 8], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::from_segments(network), prefix)
}
