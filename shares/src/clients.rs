//! What counts as one client of a listener: an address, a network of one household, or a proxy that stands for many.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use ipnet::IpNet;

/// Networks of the proxies and load balancers in front. Each of their addresses stands for many clients, so limits of a single
/// address do not apply to them.
#[derive(Clone, Debug, Default)]
pub struct Proxies(Arc<[IpNet]>);

impl Proxies {
    /// From networks; a single address is one of full length.
    pub fn new(networks: impl IntoIterator<Item = IpNet>) -> Self {
        Self(networks.into_iter().collect())
    }

    /// Whether this is the address of a proxy.
    pub fn contain(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// What counts as one client: an IPv4 address, or the 64 bits of an IPv6 address that a provider hands out as a whole.
pub fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address @ IpAddr::V4(_) => address,
    }
}
