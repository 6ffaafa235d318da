//! What counts as one client of a listener: an address, the network of one household, or a proxy
//! that stands for many clients.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use ipnet::IpNet;

/// The networks of proxies and load balancers in front of the service. Each of their addresses
/// stands for many clients, so the limits of a single address do not apply to them.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Arc<[IpNet]>);

impl Proxies {
    /// From networks. A single address is a network with a full prefix.
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(networks.into_iter().collect())
    }

    /// Whether this is the address of a proxy.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// What counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, which
/// providers assign as a whole.
pub fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}
