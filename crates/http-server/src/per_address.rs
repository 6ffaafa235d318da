//! Bounds that no single address can use up: connections to a listener, and memory for bodies. Each
//! address has a share of them ([`shares`]).

use std::{net::IpAddr, sync::Arc};

use fair_share::{Limit, Proxies, Shares, client};

/// An address's part of a capacity.
pub type Share = fair_share::Share<IpAddr>;

/// A capacity that is divided among addresses.
pub(crate) struct PerAddress {
    shares: Arc<Shares<IpAddr>>,
    proxies: Proxies,
}

impl PerAddress {
    pub(crate) fn new(capacity: usize, proxies: Proxies) -> Arc<Self> {
        Arc::new(Self {
            shares: Shares::new(capacity),
            proxies,
        })
    }

    /// An empty share of an address, which can grow.
    pub(crate) fn share(&self, address: IpAddr) -> Share {
        let client = client(address);
        let limit = if self.proxies.contain(client) {
            Limit::Capacity
        } else {
            Limit::Fair
        };
        self.shares.share(client, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// As many single units as an address can get.
    fn greedy(fair: &PerAddress, from: &str) -> Share {
        let mut share = fair.share(address(from));
        while share.grow(1).is_ok() {}
        share
    }

    #[test]
    fn a_proxy_may_have_everything_and_others_a_share() {
        let proxies = Proxies::new(["10.0.0.0/8".parse().unwrap()]);
        let fair = PerAddress::new(10, proxies);
        assert_eq!(greedy(&fair, "::ffff:10.1.2.3").amount(), 10);
        assert_eq!(greedy(&fair, "192.0.2.1").amount(), 5);
    }

    #[test]
    fn one_ipv6_network_is_one_client() {
        let fair = PerAddress::new(12, Proxies::default());
        let _share = greedy(&fair, "2001:db8:1:2::1");
        assert_eq!(greedy(&fair, "2001:db8:1:2:ffff::1").amount(), 0);
        assert_eq!(greedy(&fair, "2001:db8:1:3::1").amount(), 3);
    }
}
